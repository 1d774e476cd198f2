/**
 * A process in a form that another one on this machine can check: boot id, PID namespace, process id and the start time of
 * that process. A reused process id has another start time; a reboot changes the boot id.
 */
import { readFileSync, readlinkSync } from "node:fs";

export type OwnerState = "alive" | "gone" | "unknown";

interface Identity {
  readonly boot: string;
  readonly namespace: string;
  readonly pid: number;
  readonly startTicks: string;
}

/** @param pid of a living process; without one, this process */
export function ownLabel(of: number = process.pid): string {
  const { boot, namespace, pid, startTicks } = identityOf(of) ?? {
    boot: "unknown",
    namespace: "unknown",
    pid: of,
    startTicks: "0",
  };
  return [boot, namespace, pid, startTicks].join("/");
}

/** `unknown` where it cannot be checked: on another machine, in another namespace, or on a system without /proc. */
export function ownerState(label: string): OwnerState {
  const [boot, namespace, pid, startTicks] = label.split("/");
  const self = identityOf(process.pid);
  if (self === null || boot === undefined || !/^\d+$/.test(pid ?? "")) return "unknown";
  if (boot !== self.boot || namespace !== self.namespace) return "unknown";
  return identityOf(Number(pid))?.startTicks === startTicks ? "alive" : "gone";
}

function identityOf(pid: number): Identity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command may contain spaces and brackets. The fields after the last ")" are fixed: the state is the first, the
    // start time the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return {
      boot: readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim(),
      namespace: readlinkSync("/proc/self/ns/pid").replace(/\D/g, ""),
      pid,
      startTicks: fields[19] ?? "0",
    };
  } catch {
    return null; // no such process, or no /proc; the caller distinguishes the two
  }
}
