# Refuses what cannot work, before anything is compiled: a shared library that is linked with
# -static-libstdc++, with a torch of the old std::string (_GLIBCXX_USE_CXX11_ABI=0).
#
# An empty old std::string is a pointer to one object of libstdc++, and is told by its
# address. Such a library has an object of its own, torch has that of libstdc++.so: the first
# empty string that goes from one to the other ends with `free(): invalid pointer`. (A
# program's own is torch's as well, since torch looks there first.)
include_guard(GLOBAL)

# To be called where multipy::multipy is made known. What is linked with it is looked at when
# the whole project has been read; targets may get options until then.
function(multipy_refuse_static_libstdcxx)
  get_property(deferred GLOBAL PROPERTY multipy_static_libstdcxx_deferred)
  if(multipy_torch_cxx11_abi OR deferred)
    return()
  endif()
  set_property(GLOBAL PROPERTY multipy_static_libstdcxx_deferred TRUE)
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _multipy_refuse_in
    "${CMAKE_SOURCE_DIR}" "torch ${multipy_torch_version} in ${multipy_torch_root}")
endfunction()

function(_multipy_refuse_in directory torch)
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "^(SHARED|MODULE)_LIBRARY$")
      continue()
    endif()
    string(REGEX REPLACE "_LIBRARY$" "" kind "${type}")
    get_property(names DIRECTORY "${directory}" PROPERTY VARIABLES)
    list(FILTER names INCLUDE REGEX "^CMAKE_${kind}_LINKER_FLAGS")
    set(options "")
    foreach(name IN LISTS names)
      get_directory_property(value DIRECTORY "${directory}" DEFINITION ${name})
      string(APPEND options " ${value}")
    endforeach()
    set(seen "")
    _multipy_gather(${target} "")
    if("multipy::archive" IN_LIST seen AND options MATCHES "-static-libstdc[+][+]")
      message(FATAL_ERROR
        "multipy: the shared library ${target} (in ${directory}) is linked with -static-libstdc++, "
        "but ${torch} has the old std::string "
        "(_GLIBCXX_USE_CXX11_ABI=0): torch and the library would have an object for the empty "
        "string each, and the first that goes from one to the other would end the process. Leave "
        "-static-libstdc++ out, make a program of it, or use a torch with the new std::string "
        "(PyPI's from 2.7 on).")
    endif()
  endforeach()
  get_property(directories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS directories)
    _multipy_refuse_in("${below}" "${torch}")
  endforeach()
endfunction()

# Into the caller's `seen`: the names of all that is linked with `target`; into `options`:
# what the linker is told for it. `prefix` is INTERFACE_ for what the target is linked into.
function(_multipy_gather target prefix)
  foreach(property LINK_OPTIONS LINK_FLAGS)
    get_target_property(value ${target} ${prefix}${property})
    if(value)
      string(APPEND options " ${value}")
    endif()
  endforeach()
  get_target_property(linked ${target} ${prefix}LINK_LIBRARIES)
  string(REGEX REPLACE "\\$<[^:>]*:|[>,]:?" ";" linked "${linked}")  # whatever is in $<...:here>
  foreach(item IN LISTS linked)
    if(item STREQUAL "" OR item IN_LIST seen)
      continue()
    endif()
    list(APPEND seen "${item}")
    if(item MATCHES "^-")
      string(APPEND options " ${item}")
    elseif(TARGET "${item}")
      _multipy_gather("${item}" INTERFACE_)
    endif()
  endforeach()
  set(seen "${seen}" PARENT_SCOPE)
  set(options "${options}" PARENT_SCOPE)
endfunction()
