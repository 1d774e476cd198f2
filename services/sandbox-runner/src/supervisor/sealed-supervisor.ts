import { programText } from "./program-text.ts";

/**
 * The sealed supervisor: PID 1 of a sandbox, in Perl without any module. Its source is in sealed/, one concept a file.
 *
 * Every Debian and Ubuntu image carries perl-base, it starts in 3 ms, and, unlike node or sh, it can
 * call prctl(2). That matters more than anything else here: the supervisor's word "this command
 * exited 0" decides what lands, and the code under test runs with the same uid.
 *
 * Invariants:
 *   P1  The code under test never holds the frame stream. It gets pipes of its own as 0, 1 and 2,
 *       everything else is close-on-exec.
 *   P2  It cannot open the frame stream either. The supervisor is not dumpable, so /proc/1/fd, /proc/1/mem,
 *       ptrace and pidfd_getfd are refused by the kernel. hello says `sealed=1` only if the kernel confirms it.
 *   P3  It cannot stop or kill the supervisor: PID 1 ignores what its own namespace sends, SIGKILL included.
 *   P4  A step ends with its whole process tree: after the command's exit everything left in the PID
 *       namespace is killed and reaped before the exit frame is written. Nothing of one step sees the next.
 *   P5  Where the kernel has Landlock, each step runs in a domain of its own: writing is limited to /workspace, /tmp
 *       and /dev (so no /proc/<pid>/mem), signals and ptrace do not leave the domain.
 *   P6  Output in crumbs is gathered: after 32 small pieces in a row there is a millisecond between two, so a program
 *       that writes byte by byte cannot keep the runner busy with frames.
 *   P7  When the runner is gone its end of stdin closes; the supervisor exits, and with PID 1 goes the container.
 *   P8  A step is killed by itself when asked to: everything in the PID namespace but this process. The exit frame does
 *       not wait for the end of the input; what comes of it later is dropped.
 *   P9  A network is one listener on 127.0.0.1, opened only when the runner asks, whose connections are carried as
 *       frames and judged outside (services/egress-gateway). They end with their step, and none holds more than its
 *       credit: 256 KiB each way, so no connection can fill memory or starve another.
 *   P10 Where it was carried into the container (conversation/supervisor-pack.ts), its files are unlinked before it says
 *       hello: what it runs from cannot be opened, and so not changed, by anybody.
 *   P11 What differs in /workspace is found here and said as a proposal: M keeps the small files' contents in this process,
 *       whose memory nothing in the container can reach (P2), before the first command; L compares bytes, never
 *       time stamps, which a shared mapping does not touch. What is taken out by T is judged outside as ever (S2, C1-C5).
 *       It opens only names it remembers, never follows a link and never waits (O_NOFOLLOW, O_NONBLOCK), whatever is in
 *       the place of a file now.
 *   P12 It runs as PID 1 of a namespace or not at all: what ends a step (P4) would end every process of a host.
 *
 * Frames, both ways: one type letter, a space, nine digits, a newline, then that many bytes.
 *   in   R run: cwd NUL argc NUL argv... NUL KEY=value...    I stdin bytes    E end of stdin    K kill the step
 *        N listen on this port
 *        M remember the workspace    L look: names of what differs, as output    T take: a tar of the named paths, as output
 *   out  h hello    m remembered: files kept    o stdout    e stderr    w stdin bytes read    x exit: code signal oomKills pidsRefused freeBytes freeInodes    f fatal
 *        n listening: "ok", or why not
 * Of connection u32 id (P9), after an N:
 *   in   D bytes for it    G u32 more may be sent    S no more bytes come    Q drop it
 *   out  c it was opened    d bytes from it    g u32 bytes were taken    s its client sends no more    q it is gone
 */
export const SEALED_SUPERVISOR = programText(
  "sealed/process.pl",
  "sealed/frames.pl",
  "sealed/limits.pl",
  "sealed/network.pl",
  "sealed/workspace.pl",
  "sealed/archive.pl",
  "sealed/step.pl",
  "sealed/main.pl",
);
