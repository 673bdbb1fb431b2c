# Which Python the scripts make their environment of: the first on PATH that multipy takes; else they
# say what they found.
#   scripts   the folder
#   scratch   for programs that play Pythons
cmake_minimum_required(VERSION 3.24)

file(REMOVE_RECURSE "${scratch}")
file(MAKE_DIRECTORY "${scratch}/tools")
find_program(bash bash REQUIRED)
find_program(sed sed REQUIRED)
file(CREATE_LINK "${sed}" "${scratch}/tools/sed" SYMBOLIC)
find_program(dirname dirname REQUIRED)
file(CREATE_LINK "${dirname}" "${scratch}/tools/dirname" SYMBOLIC)

function(add_python folder name version)
  file(WRITE "${scratch}/${folder}/${name}" "#!${bash}\necho ${version}\n")
  file(CHMOD "${scratch}/${folder}/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# expect(<folder> <PYTHON> <exit status> <text>)
function(expect folder python status text)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "PATH=${scratch}/${folder}:${scratch}/tools" "PYTHON=${python}"
      "${bash}" -c "source '${scripts}/common.sh'; find_base_python; echo \"takes $base\""
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${text}" at)
  if(NOT result EQUAL status OR at EQUAL -1)
    message(FATAL_ERROR "${folder}, PYTHON=${python}: exit status ${result} and '${output}', expected ${status} and '${text}'")
  endif()
endfunction()

add_python(new python3 3.12)
add_python(new python3.10 3.10)
expect(new "" 0 "takes python3")
expect(new python3.10 0 "takes python3.10")

add_python(old python3 3.9)
add_python(old python3.13 3.13)
expect(old "" 0 "takes python3.13")
expect(old python3 1 "found python3 (3.9) as python3, expected CPython 3.10, 3.11")

file(MAKE_DIRECTORY "${scratch}/none")
expect(none "" 1 "found none as python3, python or python3.<minor>")
