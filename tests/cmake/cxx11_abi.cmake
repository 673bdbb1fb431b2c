# Configures the whole of multipy for a torch compiled with the one and with the other of
# libstdc++'s two std::string, and looks how each of our files would be compiled, and linked with
# a libtorch.so that has half of std::filesystem. The torch is one of small files with the names
# that tell.
cmake_minimum_required(VERSION 3.24)

# Both bring parts of libstdc++ along, as PyPI's torch 2.6.0 does.
set(names "_ZNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE ")
set(names_0 "_ZN3c1011LogAPIUsageERKSs")
set(names_1 "_ZN3c1011LogAPIUsageERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE")

foreach(abi 0 1)
  set(torch "${scratch}/torch${abi}/torch")
  file(REMOVE_RECURSE "${scratch}/build${abi}" "${torch}")
  file(WRITE "${torch}/__init__.py" "raise RuntimeError('the build must not import torch')\n")
  file(WRITE "${torch}/version.py" "__version__ = '${version}'\n")
  file(WRITE "${torch}/lib/libc10.so" "${names}${names_${abi}}")
  file(WRITE "${torch}/lib/libtorch.so"
       "_ZNSt10filesystem7__cxx1128recursive_directory_iterator7__eraseEPSt10error_code")
  file(MAKE_DIRECTORY "${torch}/include/torch/csrc/api/include" "${torch}/include/kineto")
  file(WRITE "${torch}/share/cmake/Caffe2/Caffe2Targets.cmake" "")
  set(ENV{PYTHONPATH} "${scratch}/torch${abi}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${multipy_source}" -B "${scratch}/build${abi}" -G "${generator}"
            "-DMULTIPY_PYTHON=${python}" "-DMULTIPY_LIBPYTHON=${libpython}"
            -DMULTIPY_BUILD_TESTS=OFF -DMULTIPY_BUILD_BENCHMARKS=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT abi)
    # The old one is compared with what multipy needs, of which these files have nothing.
    string(REGEX REPLACE "[ \n]+" " " flat "${output}")
    if(result EQUAL 0 OR
       NOT flat MATCHES "torch [^ ]+ with the old std::string \\(_GLIBCXX_USE_CXX11_ABI=0\\) [^ ]+ is not one of those")
      message(FATAL_ERROR "with the old std::string, expected a refusal that says so, found (${result}): ${output}")
    endif()
    continue()
  endif()
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "with the new std::string, expected success, found (${result}): ${output}")
  endif()
  file(READ "${scratch}/build${abi}/compile_commands.json" commands)
  string(JSON count LENGTH "${commands}")
  math(EXPR last "${count} - 1")
  set(checked 0)
  foreach(i RANGE ${last})
    string(JSON command GET "${commands}" ${i} command)
    string(JSON file GET "${commands}" ${i} file)
    if(NOT file MATCHES "\\.cpp$")
      continue()
    endif()
    if(NOT command MATCHES " -D_GLIBCXX_USE_CXX11_ABI=${abi} ")
      message(FATAL_ERROR "${file} is compiled without _GLIBCXX_USE_CXX11_ABI=${abi}: ${command}")
    endif()
    math(EXPR checked "${checked} + 1")
  endforeach()
  file(GLOB_RECURSE rules "${scratch}/build${abi}/build.ninja" "${scratch}/build${abi}/link.txt")
  set(links "")
  foreach(rule IN LISTS rules)
    file(READ "${rule}" link)
    string(APPEND links "${link}")
  endforeach()
  if(NOT links MATCHES "-lstdc\\+\\+,[^ ]*/libtorch\\.so,")
    message(FATAL_ERROR "nothing is linked with libstdc++ before libtorch.so")
  endif()
  if(checked LESS 50)
    message(FATAL_ERROR "${checked} files of multipy were looked at, expected all")
  endif()
endforeach()
