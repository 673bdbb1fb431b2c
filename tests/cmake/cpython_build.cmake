# third_party/cpython: a module that was not built is an error that names it and
# the package that helps; what is no source or no folder of ours is refused.
#
#   python, recipe (third_party/cpython), scratch
cmake_minimum_required(VERSION 3.24)

# expect(<text>...): the command in `command` fails and says all of them.
function(expect)
  execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0)
    message(FATAL_ERROR "${command} succeeded, expected a refusal: ${output}")
  endif()
  foreach(text IN LISTS ARGN)
    string(FIND "${output}" "${text}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${command} does not say '${text}': ${output}")
    endif()
  endforeach()
endfunction()

# A source tree as far as check_modules.py reads it: modules that every Python
# has, in the three spellings of Modules/Setup*.in, and one that there is not.
file(REMOVE_RECURSE "${scratch}")
set(lines "# a comment that names file.c\n*shared*\n")
execute_process(
  COMMAND "${python}" -c "import sys; print(*sorted(n for n in sys.builtin_module_names if n != '__main__'), sep='\\n')"
  OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" names "${names}")
foreach(i RANGE 60)  # more lines than modules are no harm
  foreach(name IN LISTS names)
    string(APPEND lines "@MODULE_X${i}_TRUE@${name} ${name}module.c\n")
  endforeach()
endforeach()
foreach(name array math cmath _datetime _random _bisect _heapq _pickle _json _lsprof unicodedata _opcode
        _asyncio _queue _statistics _struct _zoneinfo fcntl grp _socket select mmap syslog _csv
        _posixsubprocess resource termios _multibytecodec _contextvars _codecs_jp)
  string(APPEND lines "#@MODULE_Y_TRUE@${name} ${name}.c\n")
endforeach()
file(WRITE "${scratch}/complete/Modules/Setup.stdlib.in" "${lines}")
file(WRITE "${scratch}/complete/Modules/Setup.bootstrap.in" "posix posixmodule.c\n")
file(COPY "${scratch}/complete/" DESTINATION "${scratch}/lacking")
file(APPEND "${scratch}/lacking/Modules/Setup.stdlib.in"
  "@MODULE__NOWHERE_TRUE@_nowhere _nowhere.c helper.c\n# _elsewhere _elsewhere.c -lelse\n_scproxy _scproxy.c\n_testcapi _testcapimodule.c\n")
file(WRITE "${scratch}/modules.txt" "# module packages\n_nowhere  libnowhere-dev,libmore-dev\n")

set(check "${python}" "${recipe}/check_modules.py")
execute_process(COMMAND ${check} "${scratch}/complete" "${scratch}/modules.txt" COMMAND_ERROR_IS_FATAL ANY)
set(command ${check} "${scratch}/lacking" "${scratch}/modules.txt")
expect("2 of " "_elsewhere, _nowhere" "apt-get install libmore-dev libnowhere-dev" "Why _elsewhere is missing")
file(MAKE_DIRECTORY "${scratch}/empty/Modules")
file(WRITE "${scratch}/empty/Modules/Setup.stdlib.in" "")
file(WRITE "${scratch}/empty/Modules/Setup.bootstrap.in" "")
set(command ${check} "${scratch}/empty" "${scratch}/modules.txt")
expect("list 0 modules" "expected more than 50")

set(build "${recipe}/build")
set(command "${build}" --source "${scratch}/missing.tgz" --prefix "${scratch}/prefix")
expect("${scratch}/missing.tgz" "no such file")
set(command "${build}" --source "${scratch}/complete" --prefix "${scratch}/prefix")
expect("no CPython source tree")
file(WRITE "${scratch}/occupied/precious.txt" "")
set(command "${build}" --source "${scratch}/complete" --prefix "${scratch}/occupied")
expect("occupied is not empty and was not made by this script")
if(NOT EXISTS "${scratch}/occupied/precious.txt")
  message(FATAL_ERROR "a refused build has emptied ${scratch}/occupied")
endif()
