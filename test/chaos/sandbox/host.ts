/** Measures the host's free memory, disk and swap, from the kernel. */
import { readFileSync, statfsSync } from "node:fs";
import { freeSwap } from "../../support/swap-file.ts";

interface HostRoom {
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly swapBytes: number;
}

interface HostRecord {
  readonly before: HostRoom;
  /** The lowest measured value. */
  readonly during: HostRoom;
  readonly after: HostRoom;
}

const LOOK_MS = 100;

function hostRoom(): HostRoom {
  const available = /^MemAvailable:\s+(\d+) kB/m.exec(readFileSync("/proc/meminfo", "latin1"))?.[1];
  if (available === undefined) throw new Error("/proc/meminfo does not say what is available");
  const { bavail, bsize } = statfsSync("/");
  return { memoryBytes: Number(available) * 1024, diskBytes: bavail * bsize, swapBytes: freeSwap() };
}

export async function watchHost<T>(work: () => Promise<T>): Promise<{ result: T; host: HostRecord }> {
  const before = hostRoom();
  let during = before;
  const look = setInterval(() => {
    during = least(during, hostRoom());
  }, LOOK_MS);
  try {
    const result = await work();
    const after = hostRoom();
    return { result, host: { before, during: least(during, after), after } };
  } finally {
    clearInterval(look);
  }
}

function least(a: HostRoom, b: HostRoom): HostRoom {
  return {
    memoryBytes: Math.min(a.memoryBytes, b.memoryBytes),
    diskBytes: Math.min(a.diskBytes, b.diskBytes),
    swapBytes: Math.min(a.swapBytes, b.swapBytes),
  };
}
