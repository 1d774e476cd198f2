import { programText } from "./program-text.ts";

/**
 * The plain supervisor for images without Perl: it needs POSIX sh, head and wc and, when it runs steps itself, tar, rm
 * and env.
 *
 * Where the runner has a sealed supervisor to send (conversation/supervisor-pack.ts), this one only receives it and is
 * replaced by it: F names a file, P is its content (each answered with p), and X starts perl from these files with the
 * source that it was given as $1.
 *
 * It uses the frames of sealed-supervisor.ts with four differences, which follow from its hello: it is not sealed (the
 * code it runs can open its stream through /proc, so no verdict is ever built on it), the R payload is a shell script,
 * output comes when the step has ended (its files are in /tmp, so the size limit of /tmp bounds them), and it takes one
 * frame at a time.
 *
 * It answers every frame with a payload, R and I with the w of sealed-supervisor.ts, and the runner sends nothing before
 * the answer: BusyBox's head reads ahead, and what it reads beyond the frame would be lost. Input that does not fit in
 * /tmp ends the sandbox with a named reason; the rest of its frame is never read as frames.
 */
export const PLAIN_SUPERVISOR = programText("plain/supervisor.sh");
