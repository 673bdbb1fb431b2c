# Which Python a build is for. Used by multipy's own build and, installed next
# to the package config, by the projects that use it.
#
# The functions here set `multipy_problem` in the caller: empty, or why they
# could not do what was asked. multipy's own build stops there; a find_package
# answers "not found, because".
include_guard(GLOBAL)

# pip builds in an environment of its own, which it makes by a PYTHONPATH that hides
# what is installed: torch too, which is part of what is built here.
macro(_multipy_leave_pip_isolation)
  string(REGEX REPLACE "[^:]*/pip-build-env-[^:]*:?" "" _multipy_path "$ENV{PYTHONPATH}")
  set(ENV{PYTHONPATH} "${_multipy_path}")
endmacro()

# multipy_choose_python(<out> [FALLBACK <python>])
#
# The first of: MULTIPY_PYTHON (cache or -D), the Python of a `pip install`, the
# active virtual environment, the active conda environment, FALLBACK, python3 on
# PATH. When cross compiling it is the target's and runs under
# CMAKE_CROSSCOMPILING_EMULATOR. <out> becomes the absolute path of the executable
# as it calls itself (so a pyenv shim becomes the Python behind it, and a venv's
# python stays the venv's).
function(multipy_choose_python out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FALLBACK" "")
  set(multipy_problem "" PARENT_SCOPE)
  if(MULTIPY_PYTHON)
    set(candidate "${MULTIPY_PYTHON}")
    set(reason "MULTIPY_PYTHON says so")
  elseif(SKBUILD AND Python_EXECUTABLE)
    set(candidate "${Python_EXECUTABLE}")
    set(reason "pip builds with it")
    _multipy_leave_pip_isolation()
  elseif(DEFINED ENV{VIRTUAL_ENV} AND EXISTS "$ENV{VIRTUAL_ENV}/bin/python")
    set(candidate "$ENV{VIRTUAL_ENV}/bin/python")
    set(reason "its virtual environment is active")
  elseif(DEFINED ENV{CONDA_PREFIX} AND EXISTS "$ENV{CONDA_PREFIX}/bin/python")
    set(candidate "$ENV{CONDA_PREFIX}/bin/python")
    set(reason "its conda environment is active")
  elseif(arg_FALLBACK AND EXISTS "${arg_FALLBACK}")
    set(candidate "${arg_FALLBACK}")
    set(reason "multipy was built for it")
  else()
    find_program(candidate NAMES python3 NO_CACHE)
    set(reason "it is python3 on PATH")
    if(NOT candidate)
      string(CONCAT problem
        "no Python found: no MULTIPY_PYTHON, no active virtual or conda environment, and no "
        "python3 on PATH. Install Python or pass -DMULTIPY_PYTHON=/path/to/python.")
      set(multipy_problem "${problem}" PARENT_SCOPE)
      return()
    endif()
  endif()

  execute_process(
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${candidate}" -c "import sys; print(sys.executable)"
    OUTPUT_VARIABLE executable ERROR_VARIABLE error RESULT_VARIABLE result
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0 OR NOT executable)
    _multipy_gone_base("${candidate}" gone)
    string(CONCAT problem
      "asking the chosen Python for its path: ${candidate} (chosen because ${reason}) does not "
      "run (${result}): ${error}${gone}\nPass -DMULTIPY_PYTHON=/path/to/a/working/python.")
    set(multipy_problem "${problem}" PARENT_SCOPE)
    return()
  endif()
  if(NOT multipy_FIND_QUIETLY)
    message(STATUS "multipy: Python is ${executable}, because ${reason}")
  endif()
  set(${out} "${executable}" PARENT_SCOPE)
endfunction()

# <text>: what has happened, if the Python is that of a virtual environment whose base has gone.
function(_multipy_gone_base python text)
  set(${text} "" PARENT_SCOPE)
  cmake_path(GET python PARENT_PATH folder)
  cmake_path(GET folder PARENT_PATH environment)
  if(NOT EXISTS "${environment}/pyvenv.cfg")
    return()
  endif()
  file(STRINGS "${environment}/pyvenv.cfg" home REGEX "^home *=")
  string(REGEX REPLACE "^home *= *" "" home "${home}")
  if(home AND NOT EXISTS "${home}")
    string(CONCAT gone "\nIts environment was made of the Python in ${home}, which is not there any more: "
      "make it anew with another one (python3 -m venv --clear ${environment}).")
    set(${text} "${gone}" PARENT_SCOPE)
  endif()
endfunction()

# multipy_read_facts(<prefix> <python> <script>)
#
# Runs a script that prints lines "name=value" and sets <prefix>_<name> for
# each. If the script fails, what it wrote to stderr is the problem.
function(multipy_read_facts prefix python script)
  execute_process(
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${python}" "${script}"
    OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(STRIP "${error}" error)
    set(multipy_problem "${error}" PARENT_SCOPE)
    return()
  endif()
  set(multipy_problem "" PARENT_SCOPE)
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([a-z0-9_]+)=(.*)$")
      set(name "${CMAKE_MATCH_1}")
      # The target's Python says where files are on the target.
      string(REGEX REPLACE "(^|\\|)/usr/" "\\1${CMAKE_SYSROOT}/usr/" value "${CMAKE_MATCH_2}")
      set(${prefix}_${name} "${value}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# For multipy's own build: a problem ends it.
macro(multipy_stop_on_problem)
  if(multipy_problem)
    message(FATAL_ERROR "multipy: ${multipy_problem}")
  endif()
endmacro()
