/**
 * Set up before each file of a worker that goes from file to file. Variables, directory, timers and globals are put back as the
 * worker's first file found them, so that a file which failed half-way, or could not even be read, does not fail the next one.
 * A file that leaves something changed fails by itself.
 */
import { afterAll, expect, vi } from "vitest";

const EVENTS = ["uncaughtException", "unhandledRejection", "warning", "SIGINT", "SIGTERM"] as const;

interface Found {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const worker: { antiphonFound?: Found } = globalThis as object;
const found = (worker.antiphonFound ??= { env: { ...process.env }, cwd: process.cwd() });
putBack();
/** Vitest replaces its own between files, so these are not the ones of the first file. */
const listening = listeners();

type Listener = (...given: unknown[]) => void;

function listeners(): (readonly [event: string, listener: Listener])[] {
  return EVENTS.flatMap((event) =>
    (process.listeners(event as "exit") as Listener[]).map((one) => [event, one] as const),
  );
}

function left(): (readonly [event: string, listener: Listener])[] {
  return listeners().filter(([event, one]) => !listening.some((own) => own[0] === event && own[1] === one));
}

/** The names alone; a variable may hold a secret. Vitest's own say which file runs. */
function changedVariables(): string[] {
  const names = new Set([...Object.keys(found.env), ...Object.keys(process.env)]);
  return [...names].filter((name) => !name.startsWith("VITEST") && found.env[name] !== process.env[name]);
}

function putBack(): void {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const name of changedVariables())
    if (found.env[name] === undefined) delete process.env[name];
    else process.env[name] = found.env[name];
  process.chdir(found.cwd);
}

afterAll(() => {
  const surplus = left();
  for (const [event, one] of surplus) process.off(event, one);
  expect(changedVariables(), "variables of the process that the file left changed").toEqual([]);
  expect(process.cwd()).toBe(found.cwd);
  expect(
    surplus.map(([event]) => event),
    "listeners that the file left on the process",
  ).toEqual([]);
});
