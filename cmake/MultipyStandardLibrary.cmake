# Whether C++ is compiled with libstdc++, as torch is: with libc++ (clang's -stdlib=libc++)
# none of torch's functions that take a std::string would be found.
include_guard(GLOBAL)
include(CheckCXXSourceCompiles)

# multipy_check_standard_library(): sets `multipy_problem` in the caller.
function(multipy_check_standard_library)
  set(multipy_problem "" PARENT_SCOPE)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    return()
  endif()
  # What the project has set for checks of its own, and whether its programs can be linked
  # by now, is not what is asked.
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  foreach(kind FLAGS DEFINITIONS INCLUDES LINK_OPTIONS LIBRARIES LINK_DIRECTORIES)
    set(CMAKE_REQUIRED_${kind} "")
  endforeach()
  # add_compile_options() is for targets, which CMake's checks do not look at.
  get_directory_property(options COMPILE_OPTIONS)
  list(FILTER options INCLUDE REGEX "^-(stdlib=[a-z+]+|nostdinc[+][+])$")
  list(JOIN options " " CMAKE_REQUIRED_FLAGS)
  # A variable for each set of flags: the check looks once at each.
  string(CONCAT flags "${CMAKE_CXX_FLAGS}" "${CMAKE_REQUIRED_FLAGS}")
  string(MAKE_C_IDENTIFIER "MULTIPY_LIBSTDCXX_${CMAKE_CXX_COMPILER}_${flags}" checked)
  check_cxx_source_compiles("
    #include <string>
    #ifndef __GLIBCXX__
    #error another standard library
    #endif
    int main() {}" ${checked})
  if(NOT ${checked})
    string(CONCAT problem "C++ is not compiled with libstdc++, which torch was compiled with "
      "(${CMAKE_CXX_COMPILER}, CMAKE_CXX_FLAGS is '${CMAKE_CXX_FLAGS}', add_compile_options() "
      "has '${CMAKE_REQUIRED_FLAGS}'): nothing of it would link. Leave out -stdlib=libc++ and "
      "the like.")
    set(multipy_problem "${problem}" PARENT_SCOPE)
  endif()
endfunction()
