import { PLAIN_SUPERVISOR } from "./plain-supervisor.ts";
import { SEALED_SUPERVISOR } from "./sealed-supervisor.ts";

/**
 * The command that every container starts with. `exec` keeps PID 1, so the supervisor that the image can run is the
 * init of the container. The sources are arguments, so nothing has to be put into the image.
 */
export const SUPERVISOR_ENTRYPOINT: readonly string[] = ["/bin/sh", "-c"];

export const SUPERVISOR_COMMAND: readonly string[] = [
  'command -v perl >/dev/null 2>&1 && exec perl -e "$1"; exec /bin/sh -c "$2" antiphon "$1"',
  "antiphon",
  SEALED_SUPERVISOR,
  PLAIN_SUPERVISOR,
];
