# Installs multipy as `pip install -e .` does, with what wheel.cmake has compiled, and builds
# and runs a program of app/ with it; then changes a module of a copy that is installed so.
cmake_minimum_required(VERSION 3.24)

include("${CMAKE_CURRENT_LIST_DIR}/pip.cmake")

# Into a folder of its own, for PYTHONPATH. An editable installation consists of .pth files,
# which Python reads in its site-packages alone: sitecustomize has it read these, too.
function(install_editable site source)
  run("${python}" -m pip install ${quietly} ${ARGN} --target "${site}" --editable "${source}")
  file(WRITE "${site}/sitecustomize.py" "import os, site\nsite.addsitedir(os.path.dirname(__file__))\n")
endfunction()

file(REMOVE_RECURSE "${scratch}")
set(ENV{PYTHONDONTWRITEBYTECODE} 1)  # beside the modules, which are the sources

install_editable("${scratch}/site" "${multipy_source}" ${with_library})
set(ENV{PYTHONPATH} "${scratch}/site")
execute_process(COMMAND "${python}" -c "import multipy; print(multipy.__file__, multipy.cmake_prefix_path, sep=';')"
  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(POP_FRONT found module prefix)
file(REAL_PATH "${module}" module)
file(REAL_PATH "${multipy_source}/python/multipy/__init__.py" expected)
if(NOT module STREQUAL expected)
  message(FATAL_ERROR "import multipy finds ${module}, expected ${expected}")
endif()
unset(ENV{PYTHONPATH})
run("${CMAKE_COMMAND}" -S "${app}" -B "${scratch}/build" -G "${generator}" "-DCMAKE_PREFIX_PATH=${prefix}"
    "-DMULTIPY_PYTHON=${python}" "-DCMAKE_BUILD_TYPE=${build_type}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${launcher}")
run("${CMAKE_COMMAND}" --build "${scratch}/build" --target serve)
run("${CMAKE_COMMAND}" -E env ${environment} "${scratch}/build/serve")

# Of a copy, since the sources are not ours to change; without the C++ library, which would
# be compiled again for a source folder that is another one.
foreach(part CMakeLists.txt LICENSE README.md pyproject.toml python)
  file(COPY "${multipy_source}/${part}" DESTINATION "${scratch}/copy")
endforeach()
install_editable("${scratch}/site of the copy" "${scratch}/copy" ${tools_alone})
set(ENV{PYTHONPATH} "${scratch}/site of the copy")
set(show_change "${python}" -c "print(vars(__import__('multipy')).get('change'))")
expect_output("None" ${show_change})
file(APPEND "${scratch}/copy/python/multipy/__init__.py" "\nchange = 'seen'\n")
expect_output("seen" ${show_change})

file(REMOVE_RECURSE "${scratch}")
