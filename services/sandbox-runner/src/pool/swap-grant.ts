/**
 * How much of a workspace the engine may put on disk, as swap. A tmpfs is the only file system whose bytes and files an engine bounds
 * everywhere; its pages are the sandbox's memory, so with an allowance of swap the kernel keeps a small workspace in memory and
 * what a large one does not need on disk.
 *
 * The allowance holds for every sandbox at the same time, or there is none: a machine with less swap would kill a sandbox that stays
 * within its limits.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { ContainerLimits, Sandbox } from "../ports.ts";

export interface SwapWish {
  /** For each sandbox. */
  readonly bytes: number;
  readonly slots: number;
  /** Why the provider cannot, or null. */
  readonly fault: string | null;
  /** Starts a sandbox with this allowance. */
  readonly trial: (bytes: number) => Promise<Sandbox>;
}

export type SwapGrant =
  | { readonly bytes: number; readonly why: null }
  /** Why there is none. */
  | { readonly bytes: 0; readonly why: string };

const CAT_MS = 10_000;
const MEMINFO_BYTES = 16 * 1024;

/** Asks a sandbox, because the engine may be on another machine. */
export async function swapGrant({ bytes, slots, fault, trial }: SwapWish): Promise<SwapGrant> {
  if (bytes === 0) return { bytes, why: null };
  if (fault !== null) return { bytes: 0, why: fault };
  try {
    const there = await swapOf(await trial(bytes));
    const wanted = bytes * slots;
    if (there >= wanted) return { bytes, why: null };
    const why = `the engine's machine has ${there} bytes of swap, and ${slots} sandboxes with ${bytes} each may need ${wanted}`;
    return { bytes: 0, why };
  } catch (error) {
    return { bytes: 0, why: AntiphonError.from(error).detail };
  }
}

/** Why sandboxes can have no swap there, or null. */
export function swapFault(provider: string, runtime: string): string | null {
  if (provider !== "docker") return `the provider ${provider} limits no swap`;
  return runtime === "runc" ? null : `the runtime ${runtime} is not known to limit swap`;
}

/** Of the machine that the sandbox is on. */
async function swapOf(sandbox: Sandbox): Promise<number> {
  try {
    const bounds = { timeoutMs: CAT_MS, keepBytes: MEMINFO_BYTES, maxOutputBytes: MEMINFO_BYTES };
    const { stdout } = await sandbox.run({
      argv: ["cat", "/proc/meminfo"],
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdin: null,
      ...bounds,
    });
    return swapTotal(stdout.bytes.toString("latin1"));
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "the machine's swap was read" });
  }
}

/** Bytes. @param meminfo the file of this name in /proc */
export function swapTotal(meminfo: string): number {
  const line = meminfo.split("\n").find((one) => one.startsWith("SwapTotal:")) ?? "";
  return (Number.parseInt(line.slice("SwapTotal:".length), 10) || 0) * 1024;
}

/** Limits of a sandbox whose workspace may be partly on disk. */
export function withSwap(limits: ContainerLimits, bytes: number): ContainerLimits {
  return { ...limits, swapBytes: bytes, workspaceBytes: limits.workspaceBytes + bytes };
}
