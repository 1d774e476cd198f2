// `antiphon dev` in the background: `antiphon run` starts one if none answers, `antiphon dev --stop` ends it.
//
// Every starter starts a process, and the lock of the state directory lets one of them go on. The others end with
// ANT_DEV_ALREADY_RUNNING, and their starters wait for the one that holds the lock, so two commands at once start one.
// The process has a session of its own: it survives the starter and its terminal.
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { childEnvironment } from "../config.ts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { instanceIn } from "./instance.ts";
import type { Addresses } from "./instance.ts";
import { isFree } from "./loopback-port.ts";
import { smallHeap, SMALLEST_YOUNG_SPACE } from "./small-memory.ts";

const POLL_MS = 50;
/** Longer than the time in which `antiphon dev` gives up by itself. */
const READY_WITHIN_MS = 90_000;
/** Longer than the drain of a service and of nats-server, one after the other. */
const STOPPED_WITHIN_MS = 90_000;
const NATS_PORT = 4222;
const MAX_ERROR_BYTES = 64 * 1024;

/** The supervisor's events, as JSON lines. */
export function eventLog(dir: string): string {
  return join(dir, "logs/dev.log");
}

/** Starts one in the background unless one runs, and waits until it is ready. `options`: as for `antiphon dev`. */
export async function startInBackground(
  { root, config }: CliContext,
  dir: string,
  options: readonly string[] = [],
): Promise<Addresses> {
  mkdirSync(dir, { recursive: true });
  const fixed = ["dev", "--json", "--state-dir", dir, "--events-to", eventLog(dir)];
  // A nats-server of the user may have the usual port. Nothing but `nats` needs to know the port.
  const nats = options.includes("--nats-port") || (await isFree(NATS_PORT)) ? [] : ["--nats-port", "0"];
  const output = openUnnamed(join(dir, `start-${process.pid}`));
  try {
    const program = [SMALLEST_YOUNG_SPACE, join(root, "bin/antiphon.mjs")];
    const child = spawn(process.execPath, [...program, ...fixed, ...nats, ...options], {
      cwd: dir, // The caller's directory may be removed while it runs.
      env: childEnvironment({ ...smallHeap(childEnvironment({})), ANTIPHON_STATE_DIR: config.stateDir }),
      stdio: ["ignore", output, output],
      detached: true,
    });
    child.unref();
    let ended: Error | "exited" | null = null;
    child.once("error", (error) => (ended = error));
    child.once("exit", () => (ended ??= "exited"));
    return await untilReady(dir, () => (ended === null ? null : failureIn(output, dir)));
  } finally {
    closeSync(output);
  }
}

async function untilReady(dir: string, failure: () => Failure | null): Promise<Addresses> {
  const patience = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const running = instanceIn(dir);
    if (running?.addresses != null) return running.addresses;
    const failed = running === null ? failure() : null; // While another one holds the lock, ours was not needed.
    if (failed !== null && failed.code !== "ANT_DEV_ALREADY_RUNNING") throw failed;
    if (Date.now() > patience)
      throw new Failure("ANT_DEV_NOT_READY", `not ready after ${READY_WITHIN_MS / 1000} s`, {
        remedy: `read ${eventLog(dir)} and the logs beside it; "antiphon doctor" checks what it needs`,
      });
    await sleep(POLL_MS);
  }
}

/** A file without a name: nothing is left behind, however the starter ends. */
function openUnnamed(path: string): number {
  const fd = openSync(path, "wx+");
  rmSync(path);
  return fd;
}

/** What the process said at its end: with --json, its error is one line on stdout. */
function failureIn(output: number, dir: string): Failure {
  const buffer = Buffer.alloc(MAX_ERROR_BYTES);
  const text = buffer.toString("utf8", 0, readSync(output, buffer, 0, buffer.length, 0));
  if (text === "" && isFull(output))
    return new Failure("ANT_STATE_DISK_FULL", `${dir}: no space left on device`);
  for (const line of text.split("\n").filter((one) => one.startsWith('{"error"'))) {
    const { error } = JSON.parse(line) as { error: { code: string; message: string; remedy: string } };
    return new Failure(error.code, error.message, { remedy: error.remedy });
  }
  return new Failure("ANT_DEV_NOT_READY", `it ended before it was ready: ${text.trim().slice(-500)}`);
}

/** Whether the process could not say why it ended, because its words are a file on the disk that it found full. */
function isFull(output: number): boolean {
  try {
    writeSync(output, "\n");
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return true;
    throw error;
  }
}

/** Ends the one that runs there, and waits until its processes are gone. False: none runs. */
export async function stopInstance(dir: string): Promise<boolean> {
  const running = instanceIn(dir);
  if (running === null) return false;
  process.kill(running.pid, "SIGTERM");
  const patience = Date.now() + STOPPED_WITHIN_MS;
  while (instanceIn(dir)?.pid === running.pid) {
    if (Date.now() > patience)
      throw new Failure(
        "ANT_DEV_NOT_STOPPED",
        `process ${running.pid} still runs after ${STOPPED_WITHIN_MS / 1000} s`,
      );
    await sleep(POLL_MS);
  }
  return true;
}
