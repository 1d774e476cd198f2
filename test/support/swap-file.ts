/**
 * Swap for a test, in a file of its own. A shell takes it away when the test closes it, and also when the test's process dies,
 * because the shell's input ends then.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { swapTotal } from "../../services/sandbox-runner/src/pool/swap-grant.ts";

export interface TestSwap {
  /** Why this machine has not that much swap, or null. */
  readonly why: string | null;
  close(): Promise<void>;
}

const SCRIPT = `
set -e
d=$(mktemp -d "\${TMPDIR:-/tmp}/antiphon-swap-XXXXXX")
trap 'rm -r "$d"' EXIT
umask 077
fallocate -l "$1" "$d/swap"
mkswap "$d/swap" > /dev/null
swapon "$d/swap"
echo on
cat > /dev/null
swapoff "$d/swap"
`;

const meminfo = (): string => readFileSync("/proc/meminfo", "latin1");

/** Makes the file where that is possible; else the swap of the machine must suffice. */
export async function openSwap(bytes: number): Promise<TestSwap> {
  const shell = spawn("sh", ["-c", SCRIPT, "sh", String(bytes)], { detached: true, stdio: "pipe" });
  const closed = once(shell, "close") as Promise<[number | null]>;
  let fault = "";
  shell.stderr.on("data", (piece: Buffer) => void (fault += piece.toString()));
  const lines = createInterface({ input: shell.stdout });
  const isOn = await Promise.race([once(lines, "line").then(() => true), closed.then(() => false)]);
  if (!isOn) {
    const has = swapTotal(meminfo());
    const why =
      has >= bytes ? null : `this machine has ${has} bytes of swap, and gets no more: ${fault.trim()}`;
    if (why !== null) console.warn(`unavailable: ${why}`);
    return { why, close: () => Promise.resolve() };
  }
  return {
    why: null,
    close: async () => {
      shell.stdin.end();
      const [code] = await closed;
      if (code !== 0) throw new Error(`the swap of the test stays: ${fault.trim()}`);
    },
  };
}

/** Bytes of the machine's swap that are free. */
export function freeSwap(): number {
  const line = /^SwapFree:\s+(\d+) kB/m.exec(meminfo())?.[1];
  return Number(line ?? 0) * 1024;
}
