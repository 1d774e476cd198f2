/** The arguments for bubblewrap: the host's programs, read-only, and otherwise only the paths that are named here. */
import type { ContainerLimits } from "../../ports.ts";
import { SANDBOX_UID } from "../sandbox-uids.ts";
import { WORKSPACE } from "../workspace-mounts.ts";

export interface BubblewrapFacts {
  /** Top-level directories that are links into /usr on this host, with their targets, and those that are not. */
  readonly links: Readonly<Record<string, string>>;
  readonly directories: readonly string[];
  /** Paths of the sandbox's own memory and process counts, when it has a cgroup: [outside, inside]. */
  readonly cgroups: readonly (readonly [string, string])[];
  readonly hasFilter: boolean;
}

/** The parts of /etc that programs need to start. They hold no names or keys of this host. */
const ETC = ["alternatives", "ld.so.cache", "ssl", "ca-certificates", "perl", "mime.types", "nsswitch.conf"];
/** The file descriptor that bubblewrap reads the seccomp filter from. */
export const FILTER_FD = 3;

export function bubblewrapArguments(
  limits: Pick<ContainerLimits, "workspaceBytes" | "tmpBytes">,
  facts: BubblewrapFacts,
  command: readonly string[],
): string[] {
  const tmpfs = (path: string, bytes: number): string[] => [
    ...["--perms", "0700", "--size", String(bytes), "--tmpfs", path],
  ];
  return [
    ...["--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--new-session"],
    ...["--as-pid-1", "--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"],
    ...["--uid", String(SANDBOX_UID), "--gid", String(SANDBOX_UID)],
    ...["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/opt", "/opt"],
    ...Object.entries(facts.links).flatMap(([name, target]) => ["--symlink", target, name]),
    ...facts.directories.flatMap((name) => ["--ro-bind", name, name]),
    ...ETC.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...facts.cgroups.flatMap(([outside, inside]) => ["--ro-bind", outside, inside]),
    ...tmpfs(WORKSPACE, limits.workspaceBytes),
    ...tmpfs("/tmp", limits.tmpBytes),
    ...tmpfs("/dev/shm", limits.tmpBytes),
    ...["--remount-ro", "/", "--chdir", WORKSPACE],
    ...(facts.hasFilter ? ["--seccomp", String(FILTER_FD)] : []),
    "--",
    ...command,
  ];
}
