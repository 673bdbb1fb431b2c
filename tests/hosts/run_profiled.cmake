# Records the program and expects its private libraries' functions by name.
set(data "${scratch}/profiled.data")
execute_process(COMMAND "${perf}" record -q -e cpu-clock -F 1000 -o "${data}" "${program}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${perf}" report -q --stdio --no-inline -i "${data}" --sort dso,symbol
  OUTPUT_VARIABLE report ERROR_VARIABLE error COMMAND_ERROR_IS_FATAL ANY)
# A _json that has been stripped (Debian 12) is known by its file only.
execute_process(COMMAND "${python}" -c "import _json; print(getattr(_json, '__file__', ''))"
  OUTPUT_VARIABLE json OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(json_function "py_encode_basestring_ascii")
if(json)
  execute_process(COMMAND "${readelf}" -S "${json}" OUTPUT_VARIABLE sections COMMAND_ERROR_IS_FATAL ANY)
  if(NOT sections MATCHES "\\.symtab")
    set(json_function "0x[0-9a-f]+")
  endif()
endif()
# A distribution (Debian) strips libtorch_python, so that only functions that others call
# have names, calls it by its version, and has built _json into libpython.
foreach(expected
    "libinterpreter\\.so +\\[\\.\\] _PzEval_EvalFrameDefault"
    "libtorch_python\\.so[.0-9]* +\\[\\.\\] [^\n]*(THPVariable_dim|PyWarningHandler)"
    "(_json\\.[^ ]*so|libinterpreter\\.so) +\\[\\.\\] ${json_function}")
  if(NOT report MATCHES "${expected}")
    message(FATAL_ERROR "expected ${expected} in the profile, found:\n${report}")
  endif()
endforeach()
