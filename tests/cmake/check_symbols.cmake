# Passes if the dynamic symbol table of `payload` is what private copies of
# libraries may see, and what it needs is what every process with torch has.
cmake_minimum_required(VERSION 3.24)
function(dynamic_names out)
  execute_process(COMMAND "${nm}" -D --format=posix ${ARGN} "${payload}"
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${text}")
  list(TRANSFORM lines REPLACE "[@ ].*$" "")
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

dynamic_names(defined --defined-only)
set(strangers ${defined})
list(FILTER strangers EXCLUDE REGEX "^(_?Pz|multipy_)")
if(strangers)
  message(FATAL_ERROR "${payload} exports ${strangers}; expected only Pz*, _Pz* and multipy_*")
endif()

dynamic_names(undefined --undefined-only)
list(FILTER undefined INCLUDE REGEX "^_?P[yz][A-Z_]")
if(undefined)
  message(FATAL_ERROR "${payload} asks its process for ${undefined}; expected no C-API name")
endif()

# The whole C-API: what the static libpython shows to other libraries.
execute_process(COMMAND "${readelf}" --syms --wide "${python}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(GLOBAL|WEAK) +DEFAULT +[0-9]+ _?Py[A-Za-z0-9_]+" api "${symbols}")
list(TRANSFORM api REPLACE "^.* (_?)Py" "\\1Pz")
list(REMOVE_DUPLICATES api)
list(LENGTH api count)
if(count LESS 1000)
  message(FATAL_ERROR "${python} shows ${count} names Py* or _Py*; expected more than 1000")
endif()
list(REMOVE_ITEM api ${defined})
if(api)
  message(FATAL_ERROR "${payload} does not export ${api}, which ${python} has")
endif()

execute_process(COMMAND "${readelf}" -d "${payload}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
foreach(word RUNPATH RPATH TEXTREL libpython)
  if(dynamic MATCHES "${word}")
    message(FATAL_ERROR "${payload} has ${word} in its dynamic section:\n${dynamic}")
  endif()
endforeach()
