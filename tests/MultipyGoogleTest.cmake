# GoogleTest, compiled like all of ours with the std::string that torch was compiled with: the
# installed one, or else its source, which Debian and Ubuntu install beside it. Sets
# multipy_gtest and multipy_gtest_main, what tests link.
find_package(GTest)
if(NOT GTest_FOUND)
  message(FATAL_ERROR "multipy: the tests need GoogleTest. On Debian and Ubuntu install "
    "libgtest-dev; without tests: -DMULTIPY_BUILD_TESTS=OFF.")
endif()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -std=c++20)
set(CMAKE_REQUIRED_DEFINITIONS "-D_GLIBCXX_USE_CXX11_ABI=${multipy_torch_cxx11_abi}")
set(CMAKE_REQUIRED_LIBRARIES GTest::gtest Threads::Threads)
check_cxx_source_compiles(
  "#include <gtest/gtest.h>\nint main() { return testing::Message().GetString().size(); }"
  MULTIPY_GTEST_LINKS_${multipy_torch_cxx11_abi})
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_DEFINITIONS)
unset(CMAKE_REQUIRED_LIBRARIES)
if(MULTIPY_GTEST_LINKS_${multipy_torch_cxx11_abi})
  set(multipy_gtest GTest::gtest)
  set(multipy_gtest_main GTest::gtest_main)
  return()
endif()

set(MULTIPY_GTEST_SOURCE /usr/src/googletest/googletest CACHE PATH
  "GoogleTest's source, for a torch with another std::string than the installed GoogleTest's")
if(NOT EXISTS "${MULTIPY_GTEST_SOURCE}/src/gtest-all.cc")
  message(FATAL_ERROR "multipy: a program compiled with _GLIBCXX_USE_CXX11_ABI=${multipy_torch_cxx11_abi}, "
    "as torch was, does not link with the GoogleTest that was found (GTest_DIR: ${GTest_DIR}), and there "
    "is no source of it in MULTIPY_GTEST_SOURCE=${MULTIPY_GTEST_SOURCE}. Install googletest (Debian and "
    "Ubuntu) or name its folder googletest there; without tests: -DMULTIPY_BUILD_TESTS=OFF.")
endif()
add_library(multipy_gtest STATIC "${MULTIPY_GTEST_SOURCE}/src/gtest-all.cc")
target_include_directories(multipy_gtest SYSTEM
  PUBLIC "${MULTIPY_GTEST_SOURCE}/include" PRIVATE "${MULTIPY_GTEST_SOURCE}")
target_compile_definitions(multipy_gtest PUBLIC _GLIBCXX_USE_CXX11_ABI=${multipy_torch_cxx11_abi})
target_link_libraries(multipy_gtest PUBLIC Threads::Threads)
add_library(multipy_gtest_main STATIC "${MULTIPY_GTEST_SOURCE}/src/gtest_main.cc")
target_link_libraries(multipy_gtest_main PUBLIC multipy_gtest)
# libstdc++ at once: what GoogleTest takes of the old std::string, our objects have as well, weak, and the linker
# would have them from archives of ours that a test of one room is to do without.
set(multipy_gtest multipy_gtest stdc++)
set(multipy_gtest_main multipy_gtest_main)
