# Of the time that a file with torch's headers takes to compile, most goes into parsing them. Here
# they are parsed once for each kind of target: rooms, libinterpreter.so's rooms, test programs, and
# other programs (examples, benchmarks), which include what deploy.h does. Their templates are
# instantiated in each file all the same, which takes some seconds: headers that most files of a kind
# do not need cost more than they save.
#
#   multipy_precompile(<target> <kind> [EXCEPT file...])
#
# has <target> use the headers of <kind> (ROOMS, INTERPRETER, TESTS, PROGRAMS), if MULTIPY_PRECOMPILED_HEADERS
# is on, except for files that include little of torch. gcc takes a precompiled header only where the options agree: the visibility of what is
# declared in it is that of its own options, the debug information and -fPIC or -fPIE are compared.
#
# Only headers of others are in it. That a file includes what it uses shows where it is off: in the
# presets thread-safety (scripts/check), asan and tsan, and, unless it is asked for, when multipy is a
# part of another project.
include_guard(GLOBAL)

set(default OFF)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT MULTIPY_SANITIZE
    AND NOT CMAKE_CROSSCOMPILING)
  set(default ON)
endif()
option(MULTIPY_PRECOMPILED_HEADERS "Precompile torch's headers for rooms and tests" ${default})

set(standard_headers <algorithm> <atomic> <filesystem> <functional> <map> <memory> <mutex> <optional>
  <string> <thread> <vector>)
set(multipy_precompiled_ROOMS ${standard_headers}
  <ATen/core/Tensor.h> <ATen/core/dispatch/Dispatcher.h> <ATen/core/ivalue.h>)
set(multipy_precompiled_INTERPRETER ${standard_headers} <ATen/core/Tensor.h> <ATen/core/ivalue.h>)
set(multipy_precompiled_TESTS ${standard_headers} <gtest/gtest.h> <ATen/ATen.h>)
set(multipy_precompiled_PROGRAMS ${standard_headers} <ATen/ATen.h> <caffe2/serialize/inline_container.h>
  <torch/csrc/api/include/torch/imethod.h> <torch/csrc/jit/serialization/import.h>)

# The preprocessor's output names a precompiled header in place of repeating it, so that ccache can
# make a key of both; it also wants CCACHE_SLOPPINESS=pch_defines,time_macros (scripts/common.sh).
# With them gcc 12 takes warnings of concatenated std::strings for ours, which it is silent about
# where they come from a system's header (gcc's bug 105651 and the like).
set(multipy_precompiled_options
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-stringop-overflow>)

# Declares the target that has a kind's headers; its options must be those of the targets that use
# them. (An executable's objects are compiled with -fPIE, a library's with -fPIC.)
#
#   multipy_declare_precompiled(<kind> <options> [linked target...])
function(multipy_declare_precompiled kind options)
  if(NOT MULTIPY_PRECOMPILED_HEADERS)
    return()
  endif()
  set(target multipy_precompiled_${kind})
  set(source "${PROJECT_BINARY_DIR}/generated/precompiled_${kind}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Compiled with the headers, which belong to its target.\n" @ONLY)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  target_link_libraries(${target} PRIVATE multipy_options ${ARGN})
  target_compile_options(${target} PRIVATE ${options} ${multipy_precompiled_options})
  target_precompile_headers(${target} PRIVATE ${multipy_precompiled_${kind}})
  if(kind MATCHES "TESTS|PROGRAMS")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  endif()
endfunction()

function(multipy_precompile target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXCEPT")
  if(MULTIPY_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM multipy_precompiled_${kind})
    target_compile_options(${target} PRIVATE ${multipy_precompiled_options})
    if(arg_EXCEPT)
      get_target_property(folder ${target} SOURCE_DIR)
      list(TRANSFORM arg_EXCEPT PREPEND "${folder}/")
      set_source_files_properties(${arg_EXCEPT} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endif()
endfunction()
