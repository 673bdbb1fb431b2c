# Compiled Python modules as C++ constants.
#
#   multipy_embed_python_code(<target> <output.cpp> <file.py>...)
#
# adds a generated source to <target> that defines multipy::pythonCode (see
# interpreter/common/python_code.h); the name of each entry is its file's stem. The
# Python that multipy is built for compiles them: an interpreter would take
# longer for that than for all else that it does with them.
set(_multipy_embed_python_code "${CMAKE_CURRENT_LIST_DIR}/embed_python_code.py")

function(multipy_embed_python_code target output)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE files)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} "${multipy_python_executable}"
            -I -S -B "${_multipy_embed_python_code}" "${output}" ${files}
    DEPENDS ${files} "${_multipy_embed_python_code}"
    COMMENT "Compiling Python into ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
