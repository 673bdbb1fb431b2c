# run(<command> <word>...): shows the command and runs it; its failure is ours.
function(run)
  list(JOIN ARGN " " words)
  message(STATUS "${words}")
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
