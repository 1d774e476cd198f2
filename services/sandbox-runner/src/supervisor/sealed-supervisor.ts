import { programText } from "./program-text.ts";

/**
 * The sealed supervisor: PID 1 of a sandbox, in Perl without any module. Its source is in sealed/, one concept a file.
 *
 * It is written in Perl because every Debian and Ubuntu image carries perl-base, perl starts in 3 ms, and, unlike node
 * or sh, it can call prctl(2), which sealing needs: its frame "this command exited 0" decides what lands, and the code
 * under test runs with the same uid.
 *
 * Promises:
 *   sandbox-runner/S2 Because the exit frame decides a verdict, code under test can neither hold nor open the frame
 *     stream: it gets pipes of its own, the supervisor is not dumpable and says `sealed=1` only if the kernel agrees,
 *     and a job for a verdict runs in such a sandbox or is refused.
 *   sandbox-runner/S3 Because leftovers of one step or attempt could change the next, the supervisor kills and reaps
 *     the whole process tree of a step before it reports the exit, and a container is handed out once, with at most the
 *     tree and the repository that its lease names, and then destroyed.
 *
 * Frames, both ways: one type letter, a space, nine digits, a newline, then that many bytes.
 *   in   R run: cwd NUL argc NUL argv... NUL KEY=value...    I stdin bytes    E end of stdin    K kill the step
 *        N listen on this port    H empty: the next step may ask; in a step: the answer to its question
 *        B a message for the inbox: its number, the look that gets it, a newline, its text
 *        M remember the workspace; with paths, each ended by a NUL, tell later whether they were read
 *        A remember these paths again, each ended by a NUL: nothing else was put in or removed
 *        L list the names that differ, as output    T tar of the named paths, as output
 *        U list what the top of a layered sandbox holds, as output
 *        V in a step that asks: L, U or T, and for T the paths: the same, as `v` and `y`
 *        W tell what was written, as output; with the payload 1, clear what is new
 *   out  h hello    m remembered: files kept    o stdout    e stderr    w stdin bytes read    x exit: code signal oomKills pidsRefused freeBytes freeInodes    f fatal
 *        n listening: "ok", or why not    a the step asks this question
 *        v output of a V    y the end of a V: 0, or 1 if it failed
 *        b a message was read: its number and the look; with look 0 it is in the inbox
 * Of connection u32 id, after an N:
 *   in   D bytes for it    G u32 more may be sent    S no more bytes come    Q drop it
 *   out  c it was opened    d bytes from it    g u32 bytes were taken    s its client sends no more    q it is gone
 */
export const SEALED_SUPERVISOR = programText(
  "sealed/process.pl", // sandbox-runner/S2
  "sealed/frames.pl",
  "sealed/limits.pl",
  "sealed/network.pl",
  "sealed/question.pl",
  "sealed/inbox.pl",
  "sealed/closed.pl",
  "sealed/workspace.pl",
  "sealed/upper.pl",
  "sealed/written.pl",
  "sealed/archive.pl",
  "sealed/peek.pl",
  "sealed/step.pl", // sandbox-runner/S3
  "sealed/main.pl",
);
