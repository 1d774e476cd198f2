# Starts OpenCode, the words behind it, for a task without bash. It first closes what OpenCode 1.18.33 would load of the
# repository in spite of its own switches, as programs: plug-ins below .opencode, and those that opencode.json names. OpenCode
# passes over what it may not read. They are opened again when it has ended, for the checks of the task.
open_again() {
  for at in .opencode opencode.json opencode.jsonc; do
    if [ -e "$at" ]; then chmod a+rX "$at"; fi
  done
}
trap open_again EXIT
trap 'exit 1' HUP INT TERM

for at in .opencode opencode.json opencode.jsonc; do
  if [ ! -e "$at" ]; then continue; fi
  if [ -d "$at" ]; then chmod a-rx "$at"; else chmod a-r "$at"; fi
  if [ -r "$at" ]; then
    echo "$at of the repository cannot be closed, so OpenCode would load its plug-ins in a task without bash" >&2
    exit 1
  fi
done
"$@"
