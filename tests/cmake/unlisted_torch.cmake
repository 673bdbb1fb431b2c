# Torches of an unknown version, 2.99, for the build to try. Both have the
# headers of the one that multipy is built for.
#
#   unlisted_torch/    the real libraries: nothing is missing
#   differing_torch/   Library::_fallback has another name in its headers, and its
#                      libraries are small ones that lack what multipy needs; its
#                      libtorch_python calls c10::SetSomethingNew()

get_target_property(headers multipy::torch_headers INTERFACE_INCLUDE_DIRECTORIES)
list(GET headers 0 headers)

function(multipy_link_entries from into)
  file(MAKE_DIRECTORY "${into}")
  file(GLOB entries LIST_DIRECTORIES true "${from}/*")
  foreach(entry IN LISTS entries)
    get_filename_component(name "${entry}" NAME)
    get_filename_component(entry "${entry}" REALPATH)
    file(CREATE_LINK "${entry}" "${into}/${name}" SYMBOLIC)
  endforeach()
endfunction()

foreach(name unlisted_torch differing_torch)
  set(root "${CMAKE_CURRENT_BINARY_DIR}/${name}/torch")
  file(REMOVE_RECURSE "${root}/include")
  file(WRITE "${root}/__init__.py" "raise RuntimeError('the build must not import torch')\n")
  file(WRITE "${root}/version.py" "__version__ = '2.99.1+cpu'\n")
  get_target_property(definitions multipy::torch_headers INTERFACE_COMPILE_DEFINITIONS)
  file(WRITE "${root}/share/cmake/Caffe2/Caffe2Targets.cmake"
    "set_target_properties(torch_cpu PROPERTIES\n  INTERFACE_COMPILE_DEFINITIONS \"${definitions}\")\n")
  file(MAKE_DIRECTORY "${root}/lib")
endforeach()

set(root "${CMAKE_CURRENT_BINARY_DIR}/unlisted_torch/torch")
multipy_link_entries("${headers}" "${root}/include")
foreach(library torch torch_cpu c10)
  get_target_property(file multipy::lib${library} IMPORTED_LOCATION)
  file(CREATE_LINK "${file}" "${root}/lib/lib${library}.so" SYMBOLIC)
endforeach()
file(CREATE_LINK "${multipy_torch_python_library}" "${root}/lib/libtorch_python.so" SYMBOLIC)

set(root "${CMAKE_CURRENT_BINARY_DIR}/differing_torch/torch")
multipy_link_entries("${headers}" "${root}/include")
file(REMOVE "${root}/include/torch")
multipy_link_entries("${headers}/torch" "${root}/include/torch")
if(NOT EXISTS "${root}/include/kineto")  # Debian has it outside torch's folder
  file(CREATE_LINK "${multipy_torch_kineto}" "${root}/include/kineto" SYMBOLIC)
endif()
file(REMOVE "${root}/include/torch/library.h")
file(READ "${headers}/torch/library.h" text)
string(REPLACE "_fallback(" "_fallback_of_2_99(" text "${text}")
file(WRITE "${root}/include/torch/library.h" "${text}")
add_custom_target(cmake_test_torch ALL)
foreach(library torch torch_cpu torch_python c10)
  string(TOUPPER "${library}" macro)
  add_library(unlisted_${library} SHARED EXCLUDE_FROM_ALL unlisted_torch.c)
  target_compile_definitions(unlisted_${library} PRIVATE LIB${macro})
  set_target_properties(unlisted_${library} PROPERTIES
    OUTPUT_NAME ${library} LIBRARY_OUTPUT_DIRECTORY "${root}/lib")
  add_dependencies(cmake_test_torch unlisted_${library})
endforeach()
