/**
 * The watchdog: a small process beside the runner that outlives it (S4).
 *
 * A runner killed between `create` and `start` leaves a container that never ran and so never ends by itself. The
 * runner's own reaper is dead with it, and nobody may start another. So each runner has a watchdog that waits on a
 * pipe: when the pipe closes without a farewell, the runner has died, and what carries its owner label is removed.
 *
 * Lifecycle: waiting -> (farewell: exit) | (closed: sweeping until three sweeps found nothing, or two minutes -> exit).
 *
 * Invariants:
 *   G1  It removes nothing while the runner lives, and only what has the runner's own owner label after that.
 *   G2  It is in a session of its own and ignores the terminal's signals: what kills the runner's group leaves it.
 *   G3  It gets no environment and no open file but the pipe.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { LABELS } from "../core/reap-plan.ts";

/** Plain JavaScript for `node -e`: it must run without this package's files, from a bundle or from sources. */
const PROGRAM = String.raw`
const http = require("node:http");
const { address, labels } = JSON.parse(process.argv[1]);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const call = (method, path) => new Promise((resolve, reject) => {
  const request = http.request({ ...address, method, path, timeout: 10000 }, (response) => {
    let body = "";
    response.on("data", (chunk) => (body += chunk));
    response.on("end", () => (response.statusCode < 500 ? resolve(body) : reject(new Error(body))));
  });
  request.on("timeout", () => request.destroy(new Error("timeout")));
  request.on("error", reject);
  request.end();
});
const sweep = async () => {
  const filters = encodeURIComponent(JSON.stringify({ label: labels }));
  const found = JSON.parse(await call("GET", "/containers/json?all=1&filters=" + filters));
  for (const { Id } of found) await call("DELETE", "/containers/" + Id + "?force=1&v=1");
  return found.length;
};
const clean = async () => {
  const endsAt = Date.now() + 120000;
  for (let empty = 0; empty < 3 && Date.now() < endsAt; ) {
    const found = await sweep().catch(() => -1);
    empty = found === 0 ? empty + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, found < 0 ? 2000 : 400));
  }
};
let farewell = false;
process.stdin.on("data", () => (farewell = true));
process.stdin.on("close", () => (farewell ? process.exit(0) : clean().finally(() => process.exit(0))));
`;

/** Where the engine listens; only what plain HTTP reaches can be watched from a process this small. */
export type EngineAddress =
  { readonly socketPath: string } | { readonly host: string; readonly port: number };

export interface Watchdog {
  /** The runner has cleaned up itself. Resolves when the watchdog is gone. */
  farewell(): Promise<void>;
}

export function startWatchdog(address: EngineAddress, instance: string, owner: string): Watchdog {
  const labels = [`${LABELS.instance}=${instance}`, `${LABELS.owner}=${owner}`]; // G1
  const child = spawn(
    process.execPath,
    ["--max-old-space-size=32", "-e", PROGRAM, JSON.stringify({ address, labels })],
    {
      cwd: "/",
      env: {}, // G3
      detached: true, // G2
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  const gone = ended(child);
  // Killed by somebody else, it reads no farewell; its end is awaited all the same.
  child.stdin?.on("error", () => child.stdin?.destroy());
  child.unref();
  return {
    farewell: async () => {
      child.stdin?.end("bye");
      await gone;
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => {
      resolve();
    });
    child.once("error", () => {
      resolve();
    });
    // Its death before ours is no fault of ours: the reaper of the next runner is what is left then.
    child.stdin?.on("error", () => undefined);
  });
}
