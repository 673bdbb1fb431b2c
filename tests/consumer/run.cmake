# Builds app/ in one of two ways (see CMakeLists.txt) and runs its programs.
cmake_minimum_required(VERSION 3.24)

include("${CMAKE_CURRENT_LIST_DIR}/run_command.cmake")

set(options "-DMULTIPY_PYTHON=${python}" "-DCMAKE_BUILD_TYPE=${build_type}"
            "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}")
if(way STREQUAL "install")
  file(REMOVE_RECURSE "${scratch}")
  run("${CMAKE_COMMAND}" --install "${multipy_build}" --prefix "${scratch}/first place")
  file(RENAME "${scratch}/first place" "${scratch}/moved")
  # A package that was moved must not know where it was made.
  file(GLOB_RECURSE files "${scratch}/moved/*.cmake" "${scratch}/moved/*.h")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    # But for the Python that it falls back to, which may be one in our folder.
    string(REPLACE "${python}" "" text "${text}")
    foreach(place "${multipy_source}/" "${multipy_build}" "first place")
      string(FIND "${text}" "${place}" at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} contains ${place}")
      endif()
    endforeach()
  endforeach()
  list(APPEND options "-DCMAKE_PREFIX_PATH=${scratch}/moved")
elseif(way STREQUAL "subdirectory")
  # It compiles all of multipy again: as quickly as can be.
  list(APPEND options "-DMULTIPY_SOURCE=${multipy_source}" "-DMULTIPY_LIBPYTHON=${libpython}"
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DCMAKE_CXX_FLAGS_DEBUG=-O0
    "-DMULTIPY_PRECOMPILED_HEADERS=${precompiled}")
else()
  message(FATAL_ERROR "way is '${way}', expected install or subdirectory")
endif()

# Versions and components, of the whole installation and of the library alone.
if(way STREQUAL "install")
  run("${CMAKE_COMMAND}" --install "${multipy_build}" --prefix "${scratch}/library alone" --component library)
  foreach(place moved "library alone")
    set(program FALSE)
    if(with_program AND place STREQUAL "moved")
      set(program TRUE)
    endif()
    run("${CMAKE_COMMAND}" -S "${requests}" -B "${scratch}/requests of ${place}" -G "${generator}"
        "-DMULTIPY_PYTHON=${python}" "-DCMAKE_PREFIX_PATH=${scratch}/${place}"
        "-DVERSION=${version}" "-DEXPECT_PROGRAM=${program}")
  endforeach()
endif()

cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
run("${CMAKE_COMMAND}" -S "${app}" -B "${scratch}/build" -G "${generator}" ${options})
run("${CMAKE_COMMAND}" --build "${scratch}/build" --parallel ${processors})
foreach(program serve serve_classic serve_static)
  run("${CMAKE_COMMAND}" -E env ${environment} "${scratch}/build/${program}")
endforeach()

if(way STREQUAL "install")
  # With a Python of which multipy cannot be used, it is not found, and says why.
  file(WRITE "${scratch}/other_torch/torch/__init__.py" "")
  file(WRITE "${scratch}/other_torch/torch/version.py" "__version__ = '2.99.0'\n")
  file(WRITE "${scratch}/other_torch/torch/lib/libc10.so" "")
  file(MAKE_DIRECTORY "${scratch}/other_torch/torch/include/torch")
  file(WRITE "${scratch}/other_torch/torch/share/cmake/Caffe2/Caffe2Targets.cmake" "")
  set(ENV{PYTHONPATH} "${scratch}/other_torch")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${app}" -B "${scratch}/refused" -G "${generator}" ${options}
    RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_QUIET)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")
  if(result EQUAL 0 OR NOT error MATCHES "torch 2\\.99\\.0 .* is not what this multipy was built with")
    message(FATAL_ERROR "with torch 2.99.0, expected a refusal that says so, found (${result}): ${error}")
  endif()
  file(REMOVE_RECURSE "${scratch}")  # 800 MB that no other run uses
endif()
