/**
 * The program that makes a sandbox of a virtual machine that a service provides. It runs once as root of the machine,
 * makes the namespaces, mounts and limits, gives up all privileges, and becomes the supervisor of sealed-supervisor.ts.
 *
 * Such a machine has a writable disk, an agent of its own and, often, a network. The code under test finds what it finds
 * in a container: /workspace and /tmp of their sizes, nothing else to write, user 65532 without a capability, and no
 * interface but loopback.
 *
 * Sockets in files belong to no network namespace. Therefore /run is empty inside, and every other socket that a program
 * of the machine listens at is covered by a mount.
 *
 * The supervisor is PID 1 of its own PID namespace, in a session without a terminal: neither /dev/tty nor the launcher
 * leads to the stream that carries its frames.
 *
 * Nothing runs before all of this holds. The first line of output says so, with the limits that the kernel enforces:
 * `<token> memory=<0|1> processes=<0|1>`; or it gives the reason, `<token> failed: <reason>`, and the program ends.
 */
import type { ContainerLimits } from "../ports.ts";
import { SHM_BYTES } from "../providers/container-spec.ts";
import { SANDBOX_UID } from "../providers/sandbox-uids.ts";
import { seccompFilter } from "../providers/seccomp-filter.ts";
import { programText } from "./program-text.ts";
import { SEALED_SUPERVISOR } from "./sealed-supervisor.ts";

const LAUNCHER = programText(
  "guest/launcher.pl",
  "guest/limits.pl",
  "guest/filesystem.pl",
  "guest/privileges.pl",
);

/**
 * A Perl program for the root of a machine. `token` begins its first line, so that earlier output is not taken for it.
 */
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
