# scripts/new-torch with environments that play PyPI's: of a torch without a difference, and of one
# with many.
#   scripts, scratch   folders
#   python             the tested one
#   torches            the folder of unlisted_torch/ and differing_torch/ (unlisted_torch.cmake)
cmake_minimum_required(VERSION 3.24)

# expect(<torch> <exit status> <text>...)
function(expect torch status)
  set(work "${scratch}/${torch}")
  file(REMOVE_RECURSE "${work}")
  file(WRITE "${work}/bin/python" "#!/bin/sh\nexec ${python} \"$@\"\n")
  file(CHMOD "${work}/bin/python" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  file(MAKE_DIRECTORY "${work}/lib/python3.99/site-packages")
  file(CREATE_LINK "${torches}/${torch}/torch" "${work}/lib/python3.99/site-packages/torch" SYMBOLIC)
  set(ENV{PYTHONPATH} "${torches}/${torch}")
  execute_process(COMMAND "${scripts}/new-torch" 2.99.1 --work "${work}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT result EQUAL status)
    message(FATAL_ERROR "${torch}: exit status ${result}, expected ${status}:\n${output}${error}")
  endif()
  foreach(text IN LISTS ARGN)
    string(FIND "${output}" "${text}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "${torch}: it does not say '${text}':\n${output}${error}")
    endif()
  endforeach()
endfunction()

expect(unlisted_torch 0 "torch 2.99.1 differs in nothing")
expect(differing_torch 1
  "headers: declarations.cpp" "libtorch_python calls c10::SetSomethingNew: not expected"
  "symbol    _ZN3c1015SetSomethingNewEv" "src/torch_bridge/symbols/known_registrations.txt")
