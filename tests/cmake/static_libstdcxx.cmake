# Configures static_libstdcxx/ in each way, with the old std::string and with the new.
cmake_minimum_required(VERSION 3.24)
foreach(abi 0 1)
  foreach(way directly flags indirectly not)
    set(binary "${scratch}/${way}${abi}")
    file(REMOVE_RECURSE "${binary}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/static_libstdcxx" -B "${binary}" -G "${generator}"
              "-DMODULES=${modules}" -DABI=${abi} -DWAY=${way}
      OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
    if(abi OR way STREQUAL "not")
      if(NOT result EQUAL 0)
        message(FATAL_ERROR "${way}, ABI ${abi}: expected success, found:\n${output}")
      endif()
      continue()
    endif()
    string(REGEX REPLACE "[ \n]+" " " flat "${output}")
    if(result EQUAL 0 OR NOT flat MATCHES "the shared library in_question .*below.* is linked with -static-libstdc\\+\\+, but torch 2.6.0 in /somewhere/torch has the old std::string")
      message(FATAL_ERROR "${way}, ABI ${abi}: expected a refusal, found (${result}):\n${output}")
    endif()
  endforeach()
endforeach()
