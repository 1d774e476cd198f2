/**
 * What turns a virtual machine that somebody else made into a sandbox like the others: run once as its root, it makes
 * the namespaces, mounts and limits, gives up everything, and becomes the supervisor of sealed-supervisor.ts.
 *
 * A provider of machines gives a machine with a writable disk, its own agent and, often, a network. The code under test
 * shall find what it finds in a container: /workspace and /tmp of their sizes, nothing else to write, user 65532
 * without a capability, and no interface but loopback, whatever the machine itself can reach.
 *
 * Invariants:
 *   V1  Nothing is run before all of it holds: the first line says so, or which part could not be had.
 *   V2  The network namespace is new and empty. What the machine can reach (its agent, metadata, the internet), the code
 *       in it cannot. A socket in a file is in no network: /run is empty in here, and the others that programs of the
 *       machine listen at when it is made are covered.
 *   V3  The supervisor is PID 1 of its own PID namespace in a session without a terminal: neither /dev/tty nor the
 *       launcher leads back to the stream its frames go through.
 *   V4  A limit the machine's kernel cannot enforce is reported as such and never as there.
 *
 * First line out: `<token> memory=<0|1> processes=<0|1>`, or `<token> failed: <reason>` and the end.
 */
import type { ContainerLimits } from "../ports.ts";
import { SANDBOX_UID, SHM_BYTES } from "../providers/container-spec.ts";
import { seccompFilter } from "../providers/seccomp-filter.ts";
import { programText } from "./program-text.ts";
import { SEALED_SUPERVISOR } from "./sealed-supervisor.ts";

const LAUNCHER = programText(
  "guest/launcher.pl",
  "guest/limits.pl",
  "guest/filesystem.pl",
  "guest/privileges.pl",
);

/** A Perl program for the root of a machine; `token` begins its first line, so that nothing before it is taken for it. */
export function guestProgram(limits: ContainerLimits, token: string): string {
  const settings: Readonly<Record<string, string | number>> = {
    token,
    uid: SANDBOX_UID,
    memory: limits.memoryBytes,
    pids: limits.pids,
    cpu: Math.round(limits.cpus * 100_000),
    workspace: limits.workspaceBytes,
    workspaceInodes: limits.workspaceInodes,
    tmp: limits.tmpBytes,
    tmpInodes: limits.tmpInodes,
    shm: SHM_BYTES,
    x64: hex(seccompFilter("x64")),
    arm64: hex(seccompFilter("arm64")),
    supervisor: hex(Buffer.from(SEALED_SUPERVISOR, "utf8")),
  };
  const words = Object.entries(settings).map(([name, value]) => `${name} => '${value}'`);
  return `our %o = (${words.join(", ")});\n${LAUNCHER}`;
}

function hex(bytes: Buffer | null): string {
  return bytes?.toString("hex") ?? "";
}
