# What interpreter/ needs of CPython beyond its public API: functions that it wraps, replaces or
# calls, structures that it looks into, names of importlib that it replaces. The versions in
# MULTIPY_SUPPORTED_PYTHON are known to have all of it. A newer one is tried before anything is
# built, as an unlisted torch is (MultipyTorchCheck.cmake):
#
#   functions    the static libpython defines them
#   structures   interpreter/cpython's C files, which include CPython's internal headers, compile
#   importlib    it has what interpreter/python/_multipy_gates.py works with (python_check.py)
include_guard(GLOBAL)

# Wrapped (ld's --wrap), by CPython's own names. For what, say the files that define them.
set(MULTIPY_WRAPPED_PYTHON_FUNCTIONS
  PyRun_StringFlags Py_CompileStringObject PyErr_WarnExplicitObject  # cpython/code_cache.cpp
  PyImport_ImportModuleLevelObject                                   # cpython/import_gates.cpp
  _PyAtExit_Call                                                     # cpython/threads_outside.cpp
  _PyGC_Fini)                                                        # torch/last_collection.cpp
# What makes code objects (cpython/code_objects.c): multipy_python_makes_code(<out>).
# Wrapped where they are: CPython 3.13 warns by the one; by the other, CPython from 3.12 on does what a
# thread is asked for between two instructions (cpython/interrupts.cpp). CPython before 3.14 changes
# allocators by the last one (cpython/python_heap.cpp).
set(MULTIPY_WRAPPED_PYTHON_FUNCTIONS_OF_SOME
  _PyErr_WarnExplicitObjectWithContext _Py_HandlePending _PyMem_SetDefaultAllocator)
# Wrapped, by the names that RenameCApi.cmake gives them. (CPython before 3.12 does not have the last one.)
set(MULTIPY_WRAPPED_RENAMED_FUNCTIONS                                # cpython/interrupts.cpp
  multipyPythonsCheckSignals multipyPythonsMakePendingCalls multipyPythonsMakePendingCallsOf)
# Replaced, renamed for libpython alone, or called without a public declaration.
set(_multipy_needed_python_functions
  _PyImport_FindSharedFuncptr PyEval_RestoreThread PyEval_SaveThread Py_AddPendingCall
  PyErr_CheckSignals Py_MakePendingCalls
  _Py_GetConfig _Py_DumpTracebackThreads _PyThread_CurrentFrames
  _PyObject_GetDictPtr)

function(multipy_python_makes_code version out)
  set(${out} _PyCode_New PARENT_SCOPE)
  if(version VERSION_LESS 3.11)
    set(${out} PyCode_NewWithPosOnlyArgs PARENT_SCOPE)
  endif()
endfunction()

# multipy_check_python(<python> <version> <include> <archive>): sets `multipy_problem` in the caller.
function(multipy_check_python python version include archive)
  set(multipy_problem "" PARENT_SCOPE)
  list(JOIN MULTIPY_SUPPORTED_PYTHON ", " supported)
  file(TIMESTAMP "${archive}" time)
  set(identity "${archive} ${time}")
  if(NOT MULTIPY_CHECKED_PYTHON STREQUAL identity)
    message(STATUS "multipy: CPython ${version} is not one of those that multipy is tested with (${supported}): "
      "looking for what multipy needs")
    _multipy_missing_functions("${version}" "${include}" "${archive}" functions)
    _multipy_other_structures("${include}" structures)
    _multipy_other_importlib("${python}" importlib)
    set(differences ${functions} ${structures} ${importlib})
    if(differences)
      list(JOIN differences "\n  " text)
      string(CONCAT problem
        "CPython ${version} (${python}) is not one of those that multipy is tested with (${supported}), and "
        "differs in what multipy needs:\n  ${text}\n"
        "Choose another Python with -DMULTIPY_PYTHON=/path/to/python. docs/versions.md says how a version is added.")
      set(multipy_problem "${problem}" PARENT_SCOPE)
      return()
    endif()
    set(MULTIPY_CHECKED_PYTHON "${identity}" CACHE INTERNAL "The unlisted CPython that was found fit")
  endif()
  message(WARNING "multipy: CPython ${version} has all that multipy needs, but multipy was never tested with "
    "it, only with ${supported}. Run the tests before you rely on it.")
endfunction()

function(_multipy_missing_functions version include archive differences)
  set(found)
  # What cpython/interrupts.cpp replaces goes by the headers' version.
  set(of_interrupts)
  file(STRINGS "${include}/patchlevel.h" line REGEX "^#define PY_VERSION ")
  if(line MATCHES "\"([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_GREATER_EQUAL 3.12)
    set(of_interrupts _PyEval_MakePendingCalls _Py_HandlePending)
  endif()
  execute_process(COMMAND "${CMAKE_NM}" --extern-only --defined-only --format=posix "${archive}"
    OUTPUT_VARIABLE symbols ERROR_QUIET)
  multipy_python_makes_code("${version}" makes_code)
  foreach(function IN LISTS MULTIPY_WRAPPED_PYTHON_FUNCTIONS makes_code _multipy_needed_python_functions
      of_interrupts)
    if(NOT symbols MATCHES "(^|\n)${function} [TtWw] ")
      list(APPEND found "functions: ${archive} defines no ${function}")
    endif()
  endforeach()
  set(${differences} "${found}" PARENT_SCOPE)
endfunction()

function(_multipy_other_structures include differences)
  set(found)
  cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
  file(GLOB sources "${root}/interpreter/cpython/*.c")
  foreach(source IN LISTS sources)
    execute_process(
      COMMAND "${CMAKE_C_COMPILER}" -std=c11 -w -fsyntax-only "-I${root}" "-isystem${include}" "${source}"
      OUTPUT_QUIET ERROR_VARIABLE output RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
      string(REPLACE ";" "," output "${output}")
      string(REGEX MATCHALL "[^\n]*error: [^\n]*" errors "${output}")
      list(TRANSFORM errors REPLACE "^.*/" "")
      list(TRANSFORM errors PREPEND "structures: ")
      list(APPEND found ${errors})
    endif()
  endforeach()
  set(${differences} "${found}" PARENT_SCOPE)
endfunction()

function(_multipy_other_importlib python differences)
  execute_process(
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${python}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/python_check.py"
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  set(${differences} "" PARENT_SCOPE)
  if(NOT result EQUAL 0)
    string(REPLACE ";" "," output "${output}")
    string(REGEX MATCHALL "[^\n]+" lines "${output}")
    list(TRANSFORM lines PREPEND "importlib: ")
    set(${differences} "${lines}" PARENT_SCOPE)
  endif()
endfunction()
