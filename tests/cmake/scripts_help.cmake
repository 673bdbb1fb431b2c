# Each of our scripts says with --help what it is, and does nothing else.
#   scripts   the folder
#   scratch   where a build would go
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE "${scratch}")
set(ENV{MULTIPY_BUILD_DIR} "${scratch}")
file(GLOB files "${scripts}/*")
list(FILTER files EXCLUDE REGEX "/(common\\.sh|packages)$")
list(LENGTH files count)
if(count LESS 10)
  message(FATAL_ERROR "${scripts} has ${count} scripts, expected more")
endif()
foreach(file IN LISTS files)
  execute_process(COMMAND "${file}" --help TIMEOUT 60
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  string(LENGTH "${output}" length)
  if(NOT result EQUAL 0 OR length LESS 60 OR output MATCHES "set -euo" OR error)
    message(FATAL_ERROR "${file} --help: ${result}\n${output}\n${error}")
  endif()
endforeach()
if(EXISTS "${scratch}")
  message(FATAL_ERROR "a script with --help made ${scratch}")
endif()
