# The chosen Python's static, position independent libpython.
#
# multipy_find_python() sets, in the caller:
#   multipy_python_executable  as Python itself calls it
#   multipy_python_version     "3.11"; multipy_python_full_version  "3.11.7"
#   multipy_python_include     where Python.h is
#   multipy_python_archive     the static library
#   multipy_python_libraries   what it must be linked with (-l and -L words)
#
# That the archive is position independent is proved, not guessed: all of it is
# linked into a shared library. The proof is repeated when the archive changes.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/MultipyChoosePython.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/MultipyPythonCheck.cmake")

# Versions whose internals interpreter/ knows. Newer ones are tried (MultipyPythonCheck.cmake).
set(MULTIPY_SUPPORTED_PYTHON 3.10 3.11 3.12 3.13 3.14)

set(_multipy_python_facts "${CMAKE_CURRENT_LIST_DIR}/python_facts.py")

function(multipy_find_python)
  multipy_choose_python(executable)
  multipy_stop_on_problem()
  set(MULTIPY_PYTHON "${executable}" CACHE FILEPATH "The Python whose environment multipy is built for" FORCE)
  multipy_read_facts(python "${executable}" "${_multipy_python_facts}")
  multipy_stop_on_problem()
  _multipy_check_python()

  string(REPLACE "|" ";" candidates "${python_archives}")
  if(MULTIPY_LIBPYTHON)
    set(candidates "${MULTIPY_LIBPYTHON}")
  endif()
  if(NOT candidates)
    _multipy_no_archive("no static libpython${python_version} belongs to ${executable}: looked for "
      "libpython${python_version}-pic.a and libpython${python_version}.a in "
      "${python_config_dir} and ${python_prefix}/lib")
  endif()

  set(archive "")
  set(failures "")
  foreach(candidate IN LISTS candidates)
    _multipy_prove_archive("${candidate}" failure libraries)
    if(NOT failure)
      set(archive "${candidate}")
      break()
    endif()
    string(APPEND failures "\n  ${candidate}: ${failure}")
  endforeach()
  if(NOT archive)
    _multipy_no_archive("no static libpython of ${executable} can be used; it must link into a "
      "shared library, so be position independent:${failures}")
  endif()
  message(STATUS "multipy: static libpython is ${archive}")
  if(NOT python_version IN_LIST MULTIPY_SUPPORTED_PYTHON)
    multipy_check_python("${executable}" "${python_version}" "${python_include}" "${archive}")
    multipy_stop_on_problem()
  endif()

  set(multipy_python_executable "${executable}" PARENT_SCOPE)
  set(multipy_python_version "${python_version}" PARENT_SCOPE)
  set(multipy_python_full_version "${python_full_version}" PARENT_SCOPE)
  set(multipy_python_include "${python_include}" PARENT_SCOPE)
  set(multipy_python_archive "${archive}" PARENT_SCOPE)
  set(multipy_python_libraries "${libraries}" PARENT_SCOPE)
endfunction()

macro(_multipy_check_python)
  if(NOT python_implementation STREQUAL "cpython" OR NOT python_flavour STREQUAL "release")
    message(FATAL_ERROR "multipy: ${executable} is a ${python_flavour} build of "
      "${python_implementation}, expected a release build of cpython. "
      "Choose another one with -DMULTIPY_PYTHON=/path/to/python.")
  endif()
  list(GET MULTIPY_SUPPORTED_PYTHON 0 oldest)
  if(python_version VERSION_LESS oldest)
    list(JOIN MULTIPY_SUPPORTED_PYTHON ", " supported)
    message(FATAL_ERROR "multipy: ${executable} is Python ${python_version}, expected one of: "
      "${supported}. Choose another one with -DMULTIPY_PYTHON=/path/to/python.")
  endif()
  if(NOT EXISTS "${python_include}/Python.h")
    message(FATAL_ERROR "multipy: ${executable} has no ${python_include}/Python.h. "
      "On Debian and Ubuntu install libpython${python_version}-dev.")
  endif()
endmacro()

function(_multipy_no_archive)
  list(JOIN ARGN "" text)
  message(FATAL_ERROR "multipy: ${text}\n"
    "What helps, by where this Python comes from:\n"
    "  Debian, Ubuntu:  apt-get install libpython${python_version}-dev  (brings libpython${python_version}-pic.a)\n"
    "                   and from 3.13 on third_party/cpython/complete, which adds the hash functions that it lacks\n"
    "  pyenv:           PYTHON_CONFIGURE_OPTS=--enable-shared pyenv install --force ${python_full_version}\n"
    "                   or CFLAGS=-fPIC pyenv install --force ${python_full_version}\n"
    "  conda:           conda install libpython-static=${python_full_version}\n"
    "  anything else:   third_party/cpython/build makes one from source; give it to\n"
    "                   cmake as -DMULTIPY_PYTHON=<its prefix>/bin/python${python_version}\n"
    "An archive that lies elsewhere can be named with -DMULTIPY_LIBPYTHON=/path/to/it.a; it must "
    "be of the same version and configuration.")
endfunction()

# Links all of `archive` into a shared library. <failure> becomes the reason why
# that cannot be done, or empty; <libraries> what it needs besides.
function(_multipy_prove_archive archive failure libraries)
  if(NOT EXISTS "${archive}")
    set(${failure} "there is no such file" PARENT_SCOPE)
    return()
  endif()
  file(SIZE "${archive}" size)
  file(TIMESTAMP "${archive}" time)
  set(identity "${archive} ${size} ${time} ${python_link_words}")
  if(MULTIPY_PROVED_IDENTITY STREQUAL identity)
    set(${failure} "" PARENT_SCOPE)
    set(${libraries} "${MULTIPY_PROVED_LIBRARIES}" PARENT_SCOPE)
    return()
  endif()

  # 1. Is it position independent? Undefined symbols are allowed here.
  _multipy_try_link("${archive}" "" error)
  if(error)
    set(${failure} "${error}" PARENT_SCOPE)
    return()
  endif()

  # 2. What does it need? The words that Python recorded when it was linked;
  # where a distribution recorded too little, the libraries that CPython's
  # modules use when they are built in.
  string(REPLACE "|" ";" recorded "${python_link_words}")
  set(common -lm -ldl -lutil -lpthread)
  set(modules -lz -lexpat -lffi -lbz2 -llzma -lsqlite3 -lssl -lcrypto -luuid -lcrypt -lnsl)
  set(usable)
  foreach(word IN LISTS modules)
    _multipy_try_library("${word}" ok)
    if(ok)
      list(APPEND usable ${word})
    endif()
  endforeach()
  foreach(words IN ITEMS "${recorded};${common}" "${recorded};${common};${usable}")
    _multipy_try_link("${archive}" "-Wl,-z,defs;-Wl,--as-needed;${words}" error)
    if(NOT error)
      _multipy_check_archive_version("${archive}" problem)
      if(problem)
        set(${failure} "${problem}" PARENT_SCOPE)
        return()
      endif()
      set(MULTIPY_PROVED_IDENTITY "${identity}" CACHE INTERNAL "The libpython that was proved to link")
      set(MULTIPY_PROVED_LIBRARIES "${words}" CACHE INTERNAL "What it was linked with")
      set(${failure} "" PARENT_SCOPE)
      set(${libraries} "${words}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  string(CONCAT reason "it is position independent, but something it needs is missing (on Debian: "
    "libexpat1-dev, zlib1g-dev, or the -dev package of the library named here): ${error}")
  set(${failure} "${reason}" PARENT_SCOPE)
endfunction()

# <problem>: empty if Py_GetVersion()'s text in the archive begins with the
# version of the chosen Python, whose standard library it is to run.
function(_multipy_check_archive_version archive problem)
  file(STRINGS "${archive}" versions REGEX "^[23]\\.[0-9]+\\.[0-9]+[+abrc0-9]*$")
  string(REGEX REPLACE "\\+" "" versions "${versions}")
  list(REMOVE_DUPLICATES versions)
  if(python_full_version IN_LIST versions)
    set(${problem} "" PARENT_SCOPE)
  else()
    list(JOIN versions "' or '" versions)
    set(${problem} "it is of version '${versions}', expected ${python_full_version}" PARENT_SCOPE)
  endif()
endfunction()

function(_multipy_sysroot_word out)
  set(${out} "" PARENT_SCOPE)
  if(CMAKE_SYSROOT)
    set(${out} "--sysroot=${CMAKE_SYSROOT}" PARENT_SCOPE)
  endif()
endfunction()

# <error>: the linker's first line about what went wrong, empty if nothing did.
function(_multipy_try_link archive words error)
  _multipy_sysroot_word(sysroot)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/libpython_proof.so")
  execute_process(
    COMMAND "${CMAKE_C_COMPILER}" ${sysroot} -shared -fno-lto -o "${output}"
            -Wl,--whole-archive "${archive}" -Wl,--no-whole-archive ${words}
    OUTPUT_VARIABLE text ERROR_VARIABLE text RESULT_VARIABLE result)
  file(REMOVE "${output}")
  if(result EQUAL 0)
    set(${error} "" PARENT_SCOPE)
    return()
  endif()
  string(REPLACE ";" "," text "${text}")
  string(REGEX MATCH "[^\n]*(relocation|undefined|cannot find|error)[^\n]*" line "${text}")
  if(NOT line)
    string(REGEX MATCH "[^\n]+" line "${text}")
  endif()
  set(${error} "${line}" PARENT_SCOPE)
endfunction()

function(_multipy_try_library word ok)
  _multipy_sysroot_word(sysroot)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/library_proof.so")
  execute_process(
    COMMAND "${CMAKE_C_COMPILER}" ${sysroot} -shared -o "${output}" ${word}
    OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE result)
  file(REMOVE "${output}")
  if(result EQUAL 0)
    set(${ok} TRUE PARENT_SCOPE)
  else()
    set(${ok} FALSE PARENT_SCOPE)
  endif()
endfunction()
