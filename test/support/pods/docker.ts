/** Calls of the docker command line, and what a container may be given on this machine. */
import { execFileSync } from "node:child_process";

/** Throws with the command's own words. */
export function docker(args: readonly string[], input?: string): string {
  try {
    return execFileSync("docker", args, {
      encoding: "utf8",
      maxBuffer: 1 << 26,
      input: input ?? "",
      stdio: "pipe",
    }).trim();
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    throw new Error(`docker ${args.join(" ").slice(0, 300)}: ${stderr.trim()}`, { cause: error });
  }
}

/** Whether a command in a container succeeds. */
export function succeeds(args: readonly string[]): boolean {
  try {
    docker(args);
    return true;
  } catch {
    return false; // the caller polls, and tells what it waited for
  }
}

/**
 * The options of a privileged container. A machine that lacks a capability itself, such as a container in a container, cannot
 * start one; what it has is then given one by one, which is enough for an engine.
 */
export function privileged(image: string): string[] {
  const trial = ["run", "--rm", "--entrypoint", "true"];
  if (succeeds([...trial, "--privileged", image])) return ["--privileged"];
  const open = ["--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined"];
  const most = [
    ...open,
    "--cap-add",
    "ALL",
    "--cap-drop",
    "SYS_RESOURCE",
    "-v",
    "/sys/fs/cgroup:/sys/fs/cgroup",
  ];
  docker([...trial, ...most, image]);
  return most;
}
