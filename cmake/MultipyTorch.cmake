# The torch of the chosen Python, as imported targets of our own:
#
#   multipy::torch_headers  include directories, definitions, the C++ ABI
#   multipy::torch          the above and the libraries, all of which stay
#                           needed, used or not
#
# torch's own find_package(Torch) is not used: with a CUDA wheel it insists on a
# CUDA toolkit, which nothing here needs. Used by multipy's own build and by the
# package config of an installed multipy.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/MultipyChoosePython.cmake")

# Versions (major.minor) that multipy is tested with. Others are tried when multipy
# is built (MultipyTorchCheck.cmake).
set(MULTIPY_SUPPORTED_TORCH 2.4 2.5 2.6 2.7 2.8 2.9 2.10 2.11 2.12 2.13 2.14 2.15)

# multipy_find_torch(<python>)
#
# Makes the targets and sets, in the caller, multipy_torch_{root,version,cxx11_abi},
# multipy_torch_kineto (kineto's headers) and multipy_torch_python_library
# (libtorch_python), or multipy_problem.
function(multipy_find_torch python)
  multipy_read_facts(torch "${python}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/torch_facts.py")
  set(multipy_problem "${multipy_problem}" PARENT_SCOPE)
  if(multipy_problem)
    return()
  endif()

  if(torch_others)
    message(WARNING "multipy: built for torch ${torch_version} in ${torch_root}, which ${python} imports; "
      "${torch_others} comes later on its path and is not used. Programs must find the same one first: "
      "compare PYTHONPATH, and `${python} -c 'import torch; print(torch.__file__)'`.")
  endif()
  if(NOT TARGET multipy::torch)
    _multipy_add_torch_targets()
  endif()
  foreach(fact root version cxx11_abi kineto)
    set(multipy_torch_${fact} "${torch_${fact}}" PARENT_SCOPE)
  endforeach()
  set(multipy_torch_python_library "${torch_file_torch_python}" PARENT_SCOPE)
endfunction()

function(_multipy_add_torch_targets)
  set(include "${torch_root}/include" "${torch_root}/include/torch/csrc/api/include")
  string(REPLACE "|" ";" definitions "${torch_definitions}")
  add_library(multipy::torch_headers INTERFACE IMPORTED GLOBAL)
  set_target_properties(multipy::torch_headers PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${include}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${include}"
    INTERFACE_COMPILE_DEFINITIONS "${definitions};_GLIBCXX_USE_CXX11_ABI=${torch_cxx11_abi}"
    INTERFACE_COMPILE_FEATURES cxx_std_20)

  set(libraries torch torch_cpu c10)
  if(torch_cuda)
    list(APPEND libraries torch_cuda c10_cuda)
  endif()
  set(targets)
  set(files)
  foreach(library IN LISTS libraries)
    set(file "${torch_file_${library}}")
    add_library(multipy::lib${library} SHARED IMPORTED GLOBAL)
    set_target_properties(multipy::lib${library} PROPERTIES
      IMPORTED_LOCATION "${file}")
    list(APPEND targets multipy::lib${library})
    list(APPEND files "${file}")
  endforeach()
  # One word to the linker, so that nothing can come between the switches; the
  # targets behind it bring the run path.
  list(JOIN files "," files)
  # Some wheels' libtorch.so (2.9 to 2.11) has functions of std::filesystem which call others
  # that it lacks: a program that found those before libstdc++'s own would end in remove_all().
  # Those with the old std::string (up to 2.6) have them of an older libstdc++, with other paths.
  set(half_of_filesystem "")
  if(EXISTS "${torch_file_torch}")
    file(STRINGS "${torch_file_torch}" half_of_filesystem LIMIT_COUNT 1
         REGEX "^_ZNSt10filesystem.*recursive_directory_iterator7__erase")
  endif()
  if(half_of_filesystem OR NOT torch_cxx11_abi)
    string(PREPEND files "-lstdc++,")
  endif()
  add_library(multipy::torch INTERFACE IMPORTED GLOBAL)
  set_target_properties(multipy::torch PROPERTIES
    INTERFACE_LINK_LIBRARIES
      "multipy::torch_headers;-Wl,--push-state,--no-as-needed,${files},--pop-state;${targets}")
  if(torch_cuda)
    # What libtorch_cuda needs in turn (CUDA's libraries, the driver) lies where
    # it finds it at run time and the linker need not.
    set_target_properties(multipy::torch PROPERTIES
      INTERFACE_LINK_OPTIONS "-Wl,--allow-shlib-undefined")
  endif()
endfunction()
