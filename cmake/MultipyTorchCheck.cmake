# Whether src/torch_bridge can work with the torch that was found: yes, if it is one of the
# versions that multipy is tested with, compiled with libstdc++'s new std::string. Any
# other one is tried before anything of it is linked, compiled into multipy or loaded, by
# three comparisons:
#
#   headers         src/torch_bridge/symbols/declarations.cpp compiles with them
#   symbols         libtorch_python asks torch for the functions that are redirected,
#                   the shared libraries have them      (src/torch_bridge/symbols/self_check.cpp)
#   registrations   libtorch_python calls no function that by its name registers or
#                   sets something, but for those that were looked at
#                                                (src/torch_bridge/symbols/known_registrations.txt)
#
# With MULTIPY_COMPARE_TORCH (scripts/new-torch) the tested ones are compared as well.
#
# A difference is a reason to refuse, and all of them are told at once. For
# multipy's own build; who uses an installed multipy needs the torch of that build.
include_guard(GLOBAL)

# multipy_check_torch(): sets `multipy_problem` in the caller. To be called after
# multipy_find_torch(); needs C++.
function(multipy_check_torch)
  set(multipy_problem "" PARENT_SCOPE)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" series "${multipy_torch_version}")
  list(JOIN MULTIPY_SUPPORTED_TORCH ".x, " supported)
  string(APPEND supported ".x")
  if(series IN_LIST MULTIPY_SUPPORTED_TORCH AND multipy_torch_cxx11_abi AND NOT MULTIPY_COMPARE_TORCH)
    return()
  endif()
  set(described "torch ${multipy_torch_version}")
  if(NOT multipy_torch_cxx11_abi)
    string(APPEND described " with the old std::string (_GLIBCXX_USE_CXX11_ABI=0)")
    string(APPEND supported " with the new one")
  endif()
  file(TIMESTAMP "${multipy_torch_python_library}" time)
  set(identity "${multipy_torch_version} ${multipy_torch_python_library} ${time}")
  if(NOT MULTIPY_CHECKED_TORCH STREQUAL identity)
    message(STATUS "multipy: ${described} is not one of those that multipy is tested "
      "with (${supported}): comparing it with what multipy needs")
    _multipy_compare_headers(headers)
    _multipy_compare_symbols(symbols)
    set(differences ${headers} ${symbols})
    if(differences)
      list(JOIN differences "\n  " text)
      string(CONCAT problem
        "${described} (${multipy_torch_root}) is not one of those that multipy is "
        "tested with (${supported}), and differs in what multipy needs:\n  ${text}\nNothing of it was "
        "loaded. Install a torch of one of these versions into the environment, or choose another "
        "Python with -DMULTIPY_PYTHON=/path/to/python. docs/versions.md says how a version is added.")
      set(multipy_problem "${problem}" PARENT_SCOPE)
      return()
    endif()
    set(MULTIPY_CHECKED_TORCH "${identity}" CACHE INTERNAL "The unlisted torch that was found fit")
  endif()
  message(WARNING "multipy: ${described} has all that multipy needs, but multipy was "
    "never tested with it, only with ${supported}. Run the tests before you rely on it.")
endfunction()

set(_multipy_sources "${CMAKE_CURRENT_LIST_DIR}/../src")
set(_multipy_headers "${CMAKE_CURRENT_LIST_DIR}/../include")

# The compiler's words for compiling against this torch.
function(_multipy_torch_words words)
  get_target_property(folders multipy::torch_headers INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(definitions multipy::torch_headers INTERFACE_COMPILE_DEFINITIONS)
  list(TRANSFORM folders PREPEND "-isystem")
  list(TRANSFORM definitions PREPEND "-D")
  set(${words} -std=c++20 ${folders} "-isystem${multipy_torch_kineto}" ${definitions}
    "-I${_multipy_sources}" "-I${_multipy_headers}" "-I${PROJECT_BINARY_DIR}/generated" PARENT_SCOPE)
endfunction()

# <differences>: the compiler's errors.
function(_multipy_compare_headers differences)
  _multipy_torch_words(words)
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" ${words} -fsyntax-only -fno-access-control -w
            "${_multipy_sources}/torch_bridge/symbols/declarations.cpp"
    OUTPUT_QUIET ERROR_VARIABLE output RESULT_VARIABLE result)
  if(result EQUAL 0)
    set(${differences} "" PARENT_SCOPE)
    return()
  endif()
  string(REPLACE ";" "," output "${output}")
  string(REGEX MATCHALL "[^\n]*error: [^\n]*" errors "${output}")
  list(TRANSFORM errors REPLACE "^.*/" "")  # of the path, the file's name will do
  if(NOT errors)
    set(errors "compiling declarations.cpp failed (${result}): ${output}")
  endif()
  list(TRANSFORM errors PREPEND "headers: ")
  set(${differences} "${errors}" PARENT_SCOPE)
endfunction()

# <differences>: what self_check.cpp says.
function(_multipy_compare_symbols differences)
  _multipy_torch_words(words)
  set(program "${CMAKE_CURRENT_BINARY_DIR}/multipy_torch_self_check")
  set(elf checked_bytes file_bytes machine shared_object symbol_count symbol_versions)
  set(torch redirected_symbols supported_torch registering_imports self_check)
  list(TRANSFORM elf PREPEND "${_multipy_sources}/elf/")
  list(TRANSFORM torch PREPEND "${_multipy_sources}/torch_bridge/symbols/")
  set(sources ${elf} ${torch})
  list(TRANSFORM sources APPEND ".cpp")
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" ${words} -w -o "${program}" ${sources}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(REPLACE ";" "," output "${output}")
    set(${differences} "symbols: the program that compares them could not be built: ${output}" PARENT_SCOPE)
    return()
  endif()
  set(shared)
  foreach(library IN ITEMS torch_cpu c10 torch_cuda c10_cuda)
    if(TARGET multipy::lib${library})
      get_target_property(file multipy::lib${library} IMPORTED_LOCATION)
      list(APPEND shared "${file}")
    endif()
  endforeach()
  execute_process(
    COMMAND "${program}" "${multipy_torch_python_library}"
            "${_multipy_sources}/torch_bridge/symbols/known_registrations.txt" ${shared}
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  file(REMOVE "${program}")
  if(result EQUAL 0)
    set(${differences} "" PARENT_SCOPE)
    return()
  endif()
  string(REPLACE ";" "," output "${output}")
  string(REGEX MATCHALL "[^\n]+" lines "${output}")
  if(NOT lines)
    set(lines "the comparison ended with ${result}")
  endif()
  list(TRANSFORM lines PREPEND "symbols: ")
  set(${differences} "${lines}" PARENT_SCOPE)
endfunction()
