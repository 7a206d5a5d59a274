# Manual pages and completion scripts, printed by the command itself: cmake -DCORTEN=... -DFOLDER=...
# -P shell.cmake. The main page names the other pages.
function(corten_prints file)
  execute_process(COMMAND ${CORTEN} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${FOLDER}/man ${FOLDER}/bash ${FOLDER}/zsh ${FOLDER}/fish)
corten_prints(man/corten.1 manual)
file(STRINGS ${FOLDER}/man/corten.1 pages REGEX "^\\.BR corten.*\\(1\\)")
foreach(page ${pages})
  string(REGEX REPLACE "^\\.BR corten..([a-z]+) .*" "\\1" command "${page}")
  corten_prints(man/corten-${command}.1 manual ${command})
endforeach()
corten_prints(bash/corten completion bash)
corten_prints(zsh/_corten completion zsh)
corten_prints(fish/corten.fish completion fish)
