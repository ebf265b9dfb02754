# cmake -D PROGRAM=pits -D OUT=FOLDER -P PitsManual.cmake: man pages (man1/*.1.gz), completion for bash (pits.bash) and zsh
# (_pits), as the program describes itself.
file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1)
execute_process(COMMAND ${PROGRAM} describe man OUTPUT_FILE ${OUT}/man1/pits.1 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} describe list COMMAND sed -n "s/^pits \\([a-z]*\\)$/\\1/p" OUTPUT_VARIABLE commands
  COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" commands "${commands}")
foreach(command IN LISTS commands)
  execute_process(COMMAND ${PROGRAM} describe man ${command} OUTPUT_FILE ${OUT}/man1/pits-${command}.1
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB pages ${OUT}/man1/*.1)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} describe zsh OUTPUT_FILE ${OUT}/_pits COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} describe bash OUTPUT_FILE ${OUT}/pits.bash COMMAND_ERROR_IS_FATAL ANY)
