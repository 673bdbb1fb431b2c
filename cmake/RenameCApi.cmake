# Gives the C-API names in static libraries their private spelling: Py* becomes
# Pz*, _Py* becomes _Pz*. Run with `cmake -P` by interpreter/CMakeLists.txt.
#
# Why: ld.so looks in the global scope first. In a host that has a libpython of
# its own (a Python process, an executable with an embedded Python) a private
# library that asks for PyObject_Call would get the host's. Private copies of
# extension modules ask for PzObject_Call instead (src/loader), which only
# libinterpreter.so has.
#
#   nm, objcopy        tools
#   python             the static libpython; in its copy the functions are weak of
#                      which interpreter/ has its own, and the debug information
#                      is gone (40 MB; names stay)
#   code               the static library of interpreter/
#   output             folder for the results: the same file names, capi.syms and
#                      capi_of_python.syms, what was renamed in each
cmake_minimum_required(VERSION 3.24)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}: ${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Functions of CPython that interpreter/ replaces; not every version has each.
set(weaken)
foreach(name _PyImport_FindSharedFuncptr PyThread_exit_thread PyThread_hang_thread _Py_DumpPathConfig)
  string(REPLACE "Py" "Pz" private_name "${name}")
  list(APPEND weaken --weaken-symbol=${name} --weaken-symbol=${private_name})
endforeach()

get_filename_component(python_name "${python}" NAME)
get_filename_component(code_name "${code}" NAME)
set(renames "${output}/capi.syms")
set(python_renames "${output}/capi_of_python.syms")
set(folder "${output}")

# A name is renamed where it is defined, in CPython, and wherever it is asked
# for. Local symbols keep theirs: no other file sees them.
run("${nm}" --extern-only --defined-only --format=posix "${python}")
string(REGEX MATCHALL "(^|\n)_?Py[A-Za-z0-9_]+" names "${output}")
list(TRANSFORM names STRIP)
list(REMOVE_DUPLICATES names)
list(LENGTH names count)
if(count LESS 1000)
  message(FATAL_ERROR "${python}: it defines ${count} symbols Py* or _Py*, expected more than 1000: "
    "this is no libpython")
endif()
list(TRANSFORM names REPLACE "^(_?)Py(.*)$" "\\1Py\\2 \\1Pz\\2")
list(JOIN names "\n" text)
# What private libraries call by these names is interpreter/'s (gil_priority.cpp, threads_outside.cpp,
# pending_calls.cpp, interrupts.cpp, late_deallocations.cpp); CPython itself, and those, call
# CPython's. (CPython's own calls of what interrupts.cpp replaces are led there by --wrap, with
# these other names.)
set(python_text "${text}")
foreach(pair "PyEval_RestoreThread multipyPythonsRestoreThread" "PyEval_SaveThread multipyPythonsSaveThread"
    "Py_AddPendingCall multipyPythonsAddPendingCall"
    "PyErr_CheckSignals multipyPythonsCheckSignals" "Py_MakePendingCalls multipyPythonsMakePendingCalls"
    "_PyEval_MakePendingCalls multipyPythonsMakePendingCallsOf" "_Py_Dealloc multipyPythonsDealloc"
    "Py_DecRef multipyPythonsDecRef" "_Py_DecRef multipyPythonsDecRefOfOne")
  string(REGEX REPLACE " .*" "" name "${pair}")
  string(REGEX REPLACE "^(_?)Py" "\\1Pz" private_name "${name}")
  string(REPLACE "${name} ${private_name}" "${pair}" python_text "${python_text}")
endforeach()
file(WRITE "${python_renames}" "${python_text}\n")
file(WRITE "${renames}" "${text}\n")

foreach(archive IN ITEMS "${python}" "${code}")
  cmake_path(GET archive FILENAME name)
  # A link, there or here, would have objcopy change what it leads to.
  file(REAL_PATH "${archive}" contents)
  file(REMOVE "${folder}/${name}")
  file(COPY_FILE "${contents}" "${folder}/${name}")
endforeach()
file(CHMOD "${folder}/${python_name}" "${folder}/${code_name}"
  PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
run("${objcopy}" --strip-debug --remove-section=.gnu.lto_* "--redefine-syms=${python_renames}"
    ${weaken} "${folder}/${python_name}")
run("${objcopy}" "--redefine-syms=${renames}" "${folder}/${code_name}")
file(TOUCH "${renames}")
