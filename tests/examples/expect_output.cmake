# Runs a program and wants exit code 0 and an output that a regular expression
# finds; ctest's own PASS_REGULAR_EXPRESSION would forget about the exit code.
#
#   cmake -DEXPECTED=<regex> -P expect_output.cmake -- <program> [arguments]
set(command "")
set(seen FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(seen)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(seen TRUE)
  endif()
endforeach()

execute_process(COMMAND ${command} OUTPUT_VARIABLE output RESULT_VARIABLE result COMMAND_ECHO STDOUT)
message("${output}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "exit code: ${result}, expected 0")
endif()
if(NOT output MATCHES "${EXPECTED}")
  message(FATAL_ERROR "the output does not match: ${EXPECTED}")
endif()
