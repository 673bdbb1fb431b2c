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

file(STRINGS "${names}" samples)
foreach(name IN LISTS samples)
  if(NOT name IN_LIST defined)
    message(FATAL_ERROR "${payload} does not export ${name}")
  endif()
endforeach()

execute_process(COMMAND "${readelf}" -d "${payload}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
foreach(word RUNPATH RPATH TEXTREL libpython)
  if(dynamic MATCHES "${word}")
    message(FATAL_ERROR "${payload} has ${word} in its dynamic section:\n${dynamic}")
  endif()
endforeach()
