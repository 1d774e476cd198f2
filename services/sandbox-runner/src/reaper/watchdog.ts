/**
 * The watchdog: a small process of its own that outlives the runner and removes containers that need no knowledge of the
 * runner's.
 *
 * At its start and every 30 s it removes containers of its instance that are past their deadline, so that a runner that
 * hangs keeps none alive. It also waits on a pipe from the runner. When the pipe closes without a farewell, the runner
 * was killed, and the watchdog removes all containers with the runner's owner label, among them those that were created
 * but never started and therefore never end by themselves. The runner itself looks for containers it lost track of
 * (reaper.ts).
 *
 * Lifecycle: waiting -> (farewell: exit) | (closed: sweeping until three sweeps found nothing, or two minutes -> exit).
 *
 * It is in a session of its own and ignores the terminal's signals, so killing the runner's process group leaves it
 * alive. It gets no environment and no open file but the pipe.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { LABELS, REAP_INTERVAL_MS } from "./reap-plan.ts";

/** Plain JavaScript for `node -e`: it must run without this package's files, from a bundle or from sources. */
const PROGRAM = String.raw`
const http = require("node:http");
const { address, instance, labels, deadline, everyMs } = JSON.parse(process.argv[1]);
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
const list = async (label) =>
  JSON.parse(await call("GET", "/containers/json?all=1&filters=" + encodeURIComponent(JSON.stringify({ label }))))
    .filter(({ Names }) => Names.length > 0);
const remove = ({ Id }) => call("DELETE", "/containers/" + Id + "?force=1&v=1");
const sweep = async () => {
  const found = await list(labels);
  for (const container of found) await remove(container);
  return found.length;
};
const overdue = async () => {
  for (const container of await list([instance]))
    if (Number(container.Labels[deadline]) < Date.now()) await remove(container).catch(() => {});
};
const look = () => overdue().catch(() => {});
look();
const looking = setInterval(look, everyMs);
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
process.stdin.on("close", () => {
  clearInterval(looking);
  farewell ? process.exit(0) : clean().finally(() => process.exit(0));
});
`;

/** The engine's address. Such a small process can only watch an engine that speaks plain HTTP. */
export type EngineAddress =
  { readonly socketPath: string } | { readonly host: string; readonly port: number };

export interface Watchdog {
  /** Reports that the runner has cleaned up by itself. Resolves when the watchdog is gone. */
  farewell(): Promise<void>;
}

export function startWatchdog(
  address: EngineAddress,
  of: { readonly instance: string; readonly owner: string },
  everyMs = REAP_INTERVAL_MS,
): Watchdog {
  const instance = `${LABELS.instance}=${of.instance}`;
  const labels = [instance, `${LABELS.owner}=${of.owner}`]; // sandbox-runner/S4
  const order = { address, instance, labels, deadline: LABELS.deadline, everyMs };
  const child = spawn(process.execPath, ["--max-old-space-size=32", "-e", PROGRAM, JSON.stringify(order)], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const gone = ended(child);
  // A watchdog that something else killed reads no farewell; its end is awaited all the same.
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
    // If the watchdog dies before the runner, the reaper of the next runner takes over.
    child.stdin?.on("error", () => undefined);
  });
}
