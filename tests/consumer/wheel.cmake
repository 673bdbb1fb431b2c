# Builds the wheel as `pip install .` does, installs it into a folder, and builds and
# runs app/ with what it carries; then the wheel of the Python tools alone.
cmake_minimum_required(VERSION 3.24)

include("${CMAKE_CURRENT_LIST_DIR}/pip.cmake")
set(pip_wheel "${python}" -m pip wheel ${quietly})

file(REMOVE_RECURSE "${scratch}")
run(${pip_wheel} ${with_library} -w "${scratch}/wheels" "${multipy_source}")
file(GLOB wheel "${scratch}/wheels/multipy-*.whl")
run("${python}" -m pip install --quiet --no-deps --target "${scratch}/site" "${wheel}")

set(ENV{PYTHONPATH} "${scratch}/site")
execute_process(COMMAND "${python}" -m multipy --cmake-prefix-path
  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
expect_output("doctor" "${python}" -m multipy --help)
expect_output("1024" "${python}" -c
  "print(__import__('multipy').InterpreterPoolExecutor(1).submit(pow, 2, 10).result())")
unset(ENV{PYTHONPATH})
run("${CMAKE_COMMAND}" -S "${app}" -B "${scratch}/build" -G "${generator}" "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DMULTIPY_PYTHON=${python}" "-DCMAKE_BUILD_TYPE=${build_type}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}")
run("${CMAKE_COMMAND}" --build "${scratch}/build" --parallel ${processors})
foreach(program serve serve_classic serve_static)
  run("${CMAKE_COMMAND}" -E env ${environment} "${scratch}/build/${program}")
endforeach()

run(${pip_wheel} ${tools_alone} -w "${scratch}/tools" "${multipy_source}")
file(GLOB wheel "${scratch}/tools/multipy-*-py3-none-any.whl")
if(NOT wheel)
  message(FATAL_ERROR "the wheel of the tools alone should be one for any machine, in ${scratch}/tools")
endif()
run("${python}" -m pip install --quiet --no-deps --target "${scratch}/tools/site" "${wheel}")
set(ENV{PYTHONPATH} "${scratch}/tools/site")
expect_output("BaseException" "${python}" -c "print(__import__('multipy').Interrupted.__base__)")
expect_output("PackageExporter" "${python}" -c "print(__import__('multipy.package').package.PackageExporter)")
expect_output("without its C\\+\\+ library" "${python}" -m multipy doctor)
expect_output("without its compiled part" "${python}" -c "
try: __import__('multipy').InterpreterPoolExecutor(1)
except ImportError as error: print(error)")

# What the next run makes anew anyway; what is compiled saves it most of the time.
file(REMOVE_RECURSE "${scratch}")
