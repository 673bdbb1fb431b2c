# Compiling for 64-bit ARM on another machine, and running what comes of it under
# qemu. scripts/aarch64 makes the root that MULTIPY_SYSROOT names.
#
#   cmake --toolchain cmake/toolchains/aarch64-linux-gnu.cmake \
#     -DMULTIPY_SYSROOT=<root> -DMULTIPY_PYTHON=<root>/usr/bin/python3.11
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MULTIPY_SYSROOT)
set(CMAKE_SYSROOT "${MULTIPY_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;${MULTIPY_SYSROOT}")

# What the tests compile libraries with.
set(MULTIPY_GCC "aarch64-linux-gnu-gcc --sysroot=${MULTIPY_SYSROOT}" CACHE STRING "")
set(MULTIPY_GXX "aarch64-linux-gnu-g++ --sysroot=${MULTIPY_SYSROOT}" CACHE STRING "")
set(MULTIPY_STRIP aarch64-linux-gnu-strip CACHE STRING "")
set(MULTIPY_LD_bfd aarch64-linux-gnu-ld.bfd CACHE STRING "")
foreach(tool CLANGXX PATCHELF RUSTC LD_gold LD_lld LD_mold)
  set(MULTIPY_${tool} "" CACHE STRING "")  # not looked for
endforeach()
