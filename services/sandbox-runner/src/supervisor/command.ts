import { PLAIN_SUPERVISOR } from "./plain-supervisor.ts";
import { SEALED_SUPERVISOR } from "./sealed-supervisor.ts";

/**
 * What the container is started with. `exec` keeps PID 1, so whichever supervisor the image can
 * carry is the init of the container; the sources are arguments, so nothing is put into the image.
 */
export const SUPERVISOR_ENTRYPOINT: readonly string[] = ["/bin/sh", "-c"];

export const SUPERVISOR_COMMAND: readonly string[] = [
  'command -v perl >/dev/null 2>&1 && exec perl -e "$1"; exec /bin/sh -c "$2" antiphon "$1"',
  "antiphon",
  SEALED_SUPERVISOR,
  PLAIN_SUPERVISOR,
];
