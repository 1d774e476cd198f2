import { programText } from "./program-text.ts";

/**
 * The plain supervisor: POSIX sh, head and wc, for images without Perl; alone it also needs tar, rm and env.
 *
 * Where the runner has a sealed supervisor to give (conversation/supervisor-pack.ts), this one only takes it in and makes
 * way for it: F names a file, P is its content (each answered with p), X starts perl from these files with the source it
 * was given as $1.
 *
 * It speaks the frames of sealed-supervisor.ts with four differences, all told to the runner in hello:
 * it is not sealed (its stream can be opened through /proc by the code it runs, so a verdict is never
 * built on it), the R payload is a shell script, output comes when the step has ended
 * (its files live in /tmp, so the size limit of /tmp bounds them), and it takes one frame at a time.
 *
 * Invariants:
 *   P13 Every frame with a payload is answered when it is taken, R and I with the w of sealed-supervisor.ts, and the runner sends
 *       nothing before: head may read ahead of what it is asked for (BusyBox's does), and what it read would be lost.
 *   P14 Input that does not fit /tmp ends the sandbox by name; what is left of its frame is never read as frames.
 */
export const PLAIN_SUPERVISOR = programText("plain/supervisor.sh");
