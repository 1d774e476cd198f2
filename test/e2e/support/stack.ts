/**
 * A whole Antiphon for one test file: `antiphon dev` on free ports with a state directory of its own, used
 * only through its CLI and its HTTP interface. `stop` fails if a process or a container is left behind.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isAlive, knownProcess, type KnownProcess } from "../../support/known-process.ts";
import { isNight } from "../../support/night.ts";
import { undocumented } from "../../support/documented-answer.ts";
import { faultOfProblem } from "../../support/problem.ts";
import { ANTIPHON, builtAntiphon, exitOf, run, start, type Ended, type RunProgram } from "./program.ts";

export interface Ready {
  event: "ready";
  gateway: string;
  nats: string;
  elapsedMs: number;
  pids: Record<string, number>;
}

export interface Stack {
  readonly ready: Ready;
  readonly stateDir: string;
  /** The events that `antiphon dev --json` has printed so far. */
  readonly events: readonly Record<string, unknown>[];
  antiphon(args: readonly string[], options?: RunProgram): Promise<Ended>;
  /** Like `antiphon`, with `--json` and its parsed document; throws if stdout is not JSON. */
  json<T = Record<string, unknown>>(
    args: readonly string[],
    options?: RunProgram,
  ): Promise<{ code: number | null; document: T }>;
  http(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>;
  /** The current pid of a child, also after restarts. */
  pid(name: string): number;
  stop(): Promise<void>;
}

interface StackOptions {
  associates?: number;
  env?: Record<string, string>;
  args?: readonly string[];
  /** Options of Node itself. */
  node?: readonly string[];
  /** A directory of the test, which `stop` leaves alone. Default: a new one, which goes with the stack. */
  stateDir?: string;
  /** The installation whose services run, as its program `antiphon`. Default: this checkout. */
  program?: string;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), "antiphon-e2e-"));
  const args = ["dev", "--json", "--port", "0", "--nats-port", "0", "--state-dir", stateDir];
  const many = options.associates === undefined ? [] : ["--associates", String(options.associates)];
  const child = start(
    process.execPath,
    [...(options.node ?? []), options.program ?? ANTIPHON, ...args, ...many, ...(options.args ?? [])],
    options.env === undefined ? {} : { env: options.env },
  );
  const events: Record<string, unknown>[] = [];
  const children: { readonly name: string; readonly known: KnownProcess }[] = [];
  let said = "";
  child.stderr?.on("data", (data: Buffer) => (said += data.toString()));
  const ready = await new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const event = JSON.parse(line) as Record<string, unknown>;
      events.push(event);
      if (event["event"] === "child_started")
        children.push({ name: String(event["name"]), known: knownProcess(Number(event["pid"])) });
      if (event["event"] === "ready") resolve(event as unknown as Ready);
    });
    void exitOf(child).then((code) =>
      reject(new Error(`antiphon dev ended with ${code}\n${said}\n${JSON.stringify(events)}`)),
    );
  });
  const env = { ANTIPHON_GATEWAY_URL: ready.gateway, ANTIPHON_NATS_URL: ready.nats };
  const called = options.program === undefined ? await builtAntiphon() : [options.program];
  const antiphon = (args: readonly string[], program: RunProgram = {}): Promise<Ended> =>
    run(process.execPath, [...called, ...args], {
      ...program,
      env: { ...env, ...program.env },
    });
  return {
    ready,
    stateDir,
    events,
    antiphon,
    async json<T>(args: readonly string[], program: RunProgram = {}) {
      const own = args.includes("--") ? args.indexOf("--") : args.length; // What follows is the agent's.
      const ended = await antiphon([...args.slice(0, own), "--json", ...args.slice(own)], program);
      try {
        return { code: ended.code, document: JSON.parse(ended.stdout) as T };
      } catch {
        throw new Error(`not JSON (exit ${ended.code}): ${ended.stdout}\n${ended.stderr}`);
      }
    },
    async http(method, path, body, headers = {}) {
      const answer = await fetch(`${ready.gateway}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      const { status, headers: got } = answer;
      const parsed = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
      const type = got.get("content-type") ?? undefined;
      const fault =
        faultOfProblem(status, type, parsed) ?? undocumented(method, path, { status, type, body: parsed });
      if (fault !== null) throw fault;
      return { status, headers: got, body: parsed };
    },
    pid(name) {
      // The nats-server runs under a shell; its own pid is in the file it writes.
      if (name === "nats-server") return Number(readFileSync(join(stateDir, "run", "nats.pid"), "utf8"));
      const started = events.findLast(
        (event) => event["event"] === "child_started" && event["name"] === name,
      );
      return Number(started?.["pid"] ?? ready.pids[name]);
    },
    async stop() {
      child.kill("SIGTERM");
      const code = await exitOf(child);
      const left = children.flatMap(({ name, known }) => (isAlive(known) ? [`${name} ${known.pid}`] : []));
      const denied = violations(stateDir);
      if (options.stateDir === undefined) rmSync(stateDir, { recursive: true, force: true });
      if (denied.length > 0) throw new Error(`a service lacks a NATS permission:\n${denied.join("\n")}`);
      if (code !== 0) throw new Error(`antiphon dev ended with ${code}\n${said}`);
      if (left.length > 0) throw new Error(`left running: ${left.join(", ")}`);
    },
  };
}

/**
 * The same with bubblewrap instead of containers, for runs that are not about containers, images or limits: they take half the
 * processor time. At night they run in containers, as those of users do.
 */
export function startQuickStack(options: StackOptions = {}): Promise<Stack> {
  const provider = isNight ? [] : ["--sandbox", "bubblewrap"];
  return startStack({ ...options, args: [...provider, ...(options.args ?? [])] });
}

/**
 * What the nats-server refused to its clients. Answers do not count: after a lost connection the server has forgotten
 * who may be answered.
 */
function violations(stateDir: string): string[] {
  const file = join(stateDir, "logs/nats-server.log");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => / Violation .*Subject "(?!_R_\.|\$JS\.ACK\.)/.test(line));
}
