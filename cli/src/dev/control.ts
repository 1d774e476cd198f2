// `antiphon dev --background`, `--status` and `--stop`.
import type { CliContext } from "../context.ts";
import { eventLog, startInBackground, stopInstance } from "./background.ts";
import { instanceIn } from "./instance.ts";
import type { Addresses } from "./instance.ts";
import { duration, table } from "../screen/table.ts";

interface ControlFlags {
  readonly port: string;
  readonly natsPort: string;
  readonly associates: string;
  readonly metricsPort?: string;
  readonly sandbox?: string;
  readonly json?: boolean;
}

export async function startBackground(context: CliContext, dir: string, flags: ControlFlags): Promise<void> {
  const { port, natsPort, associates, metricsPort, sandbox } = flags;
  const options = ["--port", port, "--nats-port", natsPort, "--associates", associates];
  const addresses = await startInBackground(context, dir, [
    ...options,
    ...(metricsPort === undefined ? [] : ["--metrics-port", metricsPort]),
    ...(sandbox === undefined ? [] : ["--sandbox", sandbox]),
  ]);
  show(context, dir, { state: "running", pid: instanceIn(dir)?.pid ?? null, ...addresses }, flags);
}

/** The exit code is 1 if none runs. */
export function showStatus(context: CliContext, dir: string, flags: ControlFlags): void {
  const running = instanceIn(dir);
  if (running === null) {
    context.setExitCode(1);
    return show(context, dir, { state: "not running", pid: null }, flags);
  }
  const state = running.addresses === null ? "starting or stopping" : "running";
  show(context, dir, { state, pid: running.pid, ...running.addresses }, flags);
}

export async function stop(context: CliContext, dir: string, flags: ControlFlags): Promise<void> {
  const began = Date.now();
  const stopped = await stopInstance(dir);
  const elapsedMs = Date.now() - began;
  if (flags.json === true) return context.screen.json({ stopped, elapsedMs });
  context.screen.out(stopped ? `everything stopped after ${duration(elapsedMs)}` : "none runs");
}

type Shown = { state: string; pid: number | null } & Partial<Addresses>;

function show({ screen }: CliContext, dir: string, shown: Shown, { json }: ControlFlags): void {
  const all = { ...shown, stateDir: dir, log: eventLog(dir) };
  if (json === true) return screen.json(all);
  const rows = Object.entries(all).filter(([, value]) => value !== null);
  for (const row of table(rows.map(([name, value]) => [name, String(value)]))) screen.out(row);
}
