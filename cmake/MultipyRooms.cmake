# The rooms of the code, and the doors between them.
#
#   multipy_add_room(<room> [USES room...] [TORCH [PRECOMPILED]] [SOURCES a.cpp...])
#
# declares the folder that CMakeLists.txt is in as a room, its files and those of its folders
# that are no rooms of their own. <room> is the folder's path below src/ ("torch_bridge/state").
# With SOURCES there is a static library multipy_<room> ("multipy_torch_bridge_state"), which
# links the rooms that it uses; without, the room consists of headers. With TORCH it may include
# torch's headers, which no other room finds. With PRECOMPILED these are precompiled: for rooms most
# of whose files include them (cmake/MultipyPrecompiledHeaders.cmake).
#
# What USES does not name, a file of the room may not include, directly: tests/architecture
# looks at each #include. That two rooms use each other is an error here.
#
#   multipy_add_interpreter_room(<room> [USES room...] [PRECOMPILED] SOURCES a.cpp...)
#
# does the same for the rooms of libinterpreter.so, which are compiled as one library.
#
# The target `rooms` compiles all of them and links nothing.
include_guard(GLOBAL)

add_custom_target(rooms)

# What both have in common: `torch` is ON or not, `rest` is what no keyword took.
function(multipy_declare_room room torch uses rest)
  if(rest)
    message(FATAL_ERROR "multipy: room ${room}: unknown argument ${rest}")
  endif()
  get_property(known GLOBAL PROPERTY multipy_rooms)
  foreach(used IN LISTS uses)
    if(NOT used IN_LIST known)
      message(FATAL_ERROR "multipy: room ${room} uses ${used}, which is not declared before it; a "
        "room is declared behind all that it uses, so that no two use each other")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY multipy_rooms ${room})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  list(JOIN uses " " uses)
  if(torch)
    set(torch torch)
  else()
    set(torch -)
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY multipy_room_table "${room}|${folder}|${torch}|${uses}\n")
endfunction()

function(multipy_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;PRECOMPILED" "" "USES;SOURCES")
  multipy_declare_room(${room} "${arg_TORCH}" "${arg_USES}" "${arg_UNPARSED_ARGUMENTS}")
  string(REPLACE "/" "_" target "multipy_${room}")
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set_property(GLOBAL APPEND PROPERTY multipy_room_targets ${target})
    add_dependencies(rooms ${target})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  string(REPLACE "/" "_" used "${arg_USES}")
  list(TRANSFORM used PREPEND multipy_)
  target_link_libraries(${target} ${scope} multipy_options ${used})
  if(arg_TORCH)
    target_link_libraries(${target} ${scope} multipy_torch_headers)
  endif()
  if(arg_PRECOMPILED)
    multipy_precompile(${target} ROOMS)
  endif()
endfunction()

function(multipy_add_interpreter_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PRECOMPILED" "" "USES;SOURCES")
  multipy_declare_room(${room} ON "${arg_USES}" "${arg_UNPARSED_ARGUMENTS}")
  target_sources(interpreter_code PRIVATE ${arg_SOURCES})
  if(NOT arg_PRECOMPILED)
    set_source_files_properties(${arg_SOURCES} TARGET_DIRECTORY interpreter_code
      PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  add_dependencies(rooms interpreter_code)
endfunction()
