# cmake/RenameCApi.cmake with archives that are symbolic links: what they lead to stays as it is.
#   renames        the script
#   nm, objcopy    tools
#   python, code   a static libpython and the library of interpreter/
#   scratch        a folder
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}/links" "${scratch}/private")
foreach(which IN ITEMS python code)
  file(REAL_PATH "${${which}}" from)
  file(COPY_FILE "${from}" "${scratch}/${which}.a")
  file(SHA256 "${scratch}/${which}.a" ${which}_before)
  file(CREATE_LINK "${scratch}/${which}.a" "${scratch}/links/${which}.a" SYMBOLIC)
endforeach()
execute_process(
  COMMAND "${CMAKE_COMMAND}" "-Dnm=${nm}" "-Dobjcopy=${objcopy}" "-Dpython=${scratch}/links/python.a"
    "-Dcode=${scratch}/links/code.a" "-Doutput=${scratch}/private" -P "${renames}"
  COMMAND_ERROR_IS_FATAL ANY)
foreach(which IN ITEMS python code)
  file(SHA256 "${scratch}/${which}.a" after)
  if(NOT after STREQUAL ${which}_before)
    message(FATAL_ERROR "the archive that the link ${which}.a leads to was changed")
  endif()
  file(SHA256 "${scratch}/private/${which}.a" made)
  if(made STREQUAL after)
    message(FATAL_ERROR "in ${scratch}/private/${which}.a nothing was renamed")
  endif()
endforeach()
file(REMOVE_RECURSE "${scratch}")
