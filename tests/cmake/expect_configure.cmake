# Configures probe/ and passes if that ends as it should: with an error, if
# `refused`, else without; and with all of `says` in what it says.
cmake_minimum_required(VERSION 3.24)
if(pythonpath)
  set(ENV{PYTHONPATH} "${pythonpath}")
endif()
file(REMOVE_RECURSE "${binary}")
set(options)
if(libpython)
  list(APPEND options "-DMULTIPY_LIBPYTHON=${libpython}")
endif()
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${probe}" -B "${binary}" -G "${generator}"
          "-DMODULES=${modules}" "-DMULTIPY_PYTHON=${python}" "-DCHECK_TORCH=${check_torch}" ${options}
  OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE result)
if(refused AND result EQUAL 0)
  message(FATAL_ERROR "configuring succeeded, expected a refusal:\n${output}${error}")
elseif(NOT refused AND NOT result EQUAL 0)
  message(FATAL_ERROR "configuring was refused, expected success:\n${output}${error}")
endif()
string(REGEX REPLACE "[ \n]+" " " flat "${error}")
string(REPLACE "|" ";" says "${says}")
foreach(text IN LISTS says)
  string(FIND "${flat}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "it does not say '${text}':\n${error}")
  endif()
endforeach()
message(STATUS "as expected:\n${error}")
