// The memory of the process that listens at a port of 127.0.0.1, as Linux tells it. What that process has started is not counted.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENS = "0A";
/** Gone meanwhile, or another user's. */
const PASSED_OVER = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

/** @returns its process id; null: it cannot be seen */
export function listenerAt(port) {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const line = read("/proc/net/tcp")
    .split("\n")
    .map((one) => one.trim().split(/\s+/))
    .find(([, local, , state]) => local === address && state === LISTENS);
  if (line === undefined) return null;
  const socket = `socket:[${line[9]}]`;
  const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && filesOf(name).includes(socket));
  return pid === undefined ? null : Number(pid);
}

/** In MiB; 0: it has ended. */
export function memoryOf(pid) {
  const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kib) / 1024;
}

function filesOf(pid) {
  const place = `/proc/${pid}/fd`;
  return tried(() => readdirSync(place), []).map((fd) => tried(() => readlinkSync(`${place}/${fd}`), ""));
}

const read = (file) => tried(() => readFileSync(file, "utf8"), "");

function tried(look, otherwise) {
  try {
    return look();
  } catch (error) {
    if (!PASSED_OVER.has(error.code)) throw error;
    return otherwise;
  }
}
