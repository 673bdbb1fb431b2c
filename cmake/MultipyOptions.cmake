# How our own code is compiled: one INTERFACE target that every object library,
# test and benchmark links. Nothing of it reaches the projects that use multipy.
include_guard(GLOBAL)

set(MULTIPY_SANITIZE "" CACHE STRING "Sanitizer for our own code: address, thread, or empty")
set_property(CACHE MULTIPY_SANITIZE PROPERTY STRINGS "" address thread)

set(MULTIPY_SLICE_BITS 35 CACHE STRING
  "Address space that each interpreter reserves for Python's objects: 2 to the power of this. Less for Valgrind (30)")
mark_as_advanced(MULTIPY_SLICE_BITS)
if(NOT MULTIPY_SLICE_BITS MATCHES "^3[0-9]$")
  message(FATAL_ERROR "multipy: MULTIPY_SLICE_BITS is '${MULTIPY_SLICE_BITS}', expected a number from 30 (1 GiB) to 39 (512 GiB)")
endif()

set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(multipy_options INTERFACE)
target_compile_features(multipy_options INTERFACE cxx_std_20)
target_include_directories(multipy_options INTERFACE
  "${PROJECT_SOURCE_DIR}/include"
  "${PROJECT_SOURCE_DIR}/src"
  "${PROJECT_BINARY_DIR}/generated")
# gcc 12 at -O3 sees overlaps in concatenations of std::string where there are none
# (gcc's bug 105651).
target_compile_options(multipy_options INTERFACE -Wall -Wextra
  "$<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>")

# Sanitizers go to whatever links the result as well, so they are a target of
# their own: multipy hands it on inside this build.
add_library(multipy_sanitizer INTERFACE)
if(MULTIPY_SANITIZE STREQUAL "address")
  set(sanitizer -fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer)
elseif(MULTIPY_SANITIZE STREQUAL "thread")
  set(sanitizer -fsanitize=thread -fno-omit-frame-pointer)
elseif(MULTIPY_SANITIZE)
  message(FATAL_ERROR "multipy: MULTIPY_SANITIZE is '${MULTIPY_SANITIZE}', expected address, thread or nothing")
endif()
if(sanitizer)
  target_compile_options(multipy_sanitizer INTERFACE ${sanitizer})
  target_link_options(multipy_sanitizer INTERFACE ${sanitizer})
endif()
target_link_libraries(multipy_options INTERFACE multipy_sanitizer)
