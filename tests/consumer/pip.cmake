# What the tests of pip share: how it builds multipy, and
# expect_output(<regular expression> <command> <word>...).
include("${CMAKE_CURRENT_LIST_DIR}/run_command.cmake")

function(expect_output expected)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}: expected ${expected}, found (${result}): ${output}")
  endif()
endfunction()

cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
set(ENV{CCACHE_NOHASHDIR} 1)
set(ENV{CCACHE_BASEDIR} "${compiled}")
set(ENV{CMAKE_BUILD_PARALLEL_LEVEL} "${processors}")
set(ENV{CMAKE_C_COMPILER_LAUNCHER} "${launcher}")
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${launcher}")
set(ENV{PIP_DISABLE_PIP_VERSION_CHECK} 1)
set(quietly --quiet --no-deps --no-build-isolation)
# Its own folder for what is compiled: a build must not leave anything in the sources.
set(with_library "--config-settings=build-dir=${compiled}" "--config-settings=cmake.build-type=${build_type}"
    "--config-settings=cmake.define.MULTIPY_LIBPYTHON=${libpython}")
set(tools_alone --config-settings=wheel.cmake=false)
