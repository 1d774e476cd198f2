import { digestOf, limits, type AgentSpec, type RunOptions, type TaskKind } from "@antiphon/contracts";
import { openRun, outstanding, replay } from "@antiphon/run";
import { check, planned, RecordLog } from "@antiphon/run/testing/record-log";
import { afterEach, expect, test, vi } from "vitest";
import type { RoomOutcome, VerdictManifest } from "../ports.ts";
import { POLICY } from "../testing/directing.ts";
import { startableChecks } from "./paid-attempt.ts";

const AGENT: AgentSpec = {
  kind: "pack",
  name: "own",
  prompt: "stdin",
  install: [],
  tools: [],
  path: [],
  argv: ["a"],
  env: {},
  junk: [],
};
const MISSING: RoomOutcome = {
  trials: [[{ ...check(127), command: "pytest", tail: "sh: 1: pytest: not found" }]],
  written: null,
};
const FAILING: RoomOutcome = { trials: [[check(1)]], written: null };
const PAID: Partial<RunOptions> = { model_budget: { usd_micro: 1_000_000 } };
const never = new Promise<null>(() => undefined);

afterEach(() => void vi.useRealTimers());

function attempt(
  agent: AgentSpec,
  options: Partial<RunOptions> = {},
  epoch = 1,
  kind: TaskKind = "edit_repo",
) {
  const one = planned("T-001");
  const log = new RecordLog().opened([{ ...one, task: { ...one.task, kind }, agent }], options);
  const { context, ...snapshot } = replay(openRun(log.runId, POLICY), log.records);
  const effect = outstanding({ ...snapshot, context }).find(({ kind }) => kind === "dispatch");
  if (effect?.kind !== "dispatch") throw new Error("nothing to dispatch");
  const stored: VerdictManifest[] = [];
  const evidence = {
    store: (manifest: VerdictManifest) => {
      stored.push(manifest);
      return Promise.resolve({ key: "k", digest: digestOf(new Uint8Array()) });
    },
    patch: () => Promise.reject(new Error("there is none")),
    artifact: () => Promise.reject(new Error("there is none")),
    keep: () => Promise.reject(new Error("nothing is kept")),
  };
  const hold = (base: Promise<RoomOutcome | null>, signal = new AbortController().signal) =>
    startableChecks(context, { ...effect, epoch }, base, evidence, signal);
  return { hold, stored };
}

test.each<[string, AgentSpec, Partial<RunOptions>]>([
  ["an installed agent", AGENT, {}],
  ["any agent with a model budget", { kind: "command", argv: ["a"] }, PAID],
])(
  "%s is not dispatched for a check that cannot start, with the evidence of the base",
  async (_, agent, options) => {
    const { hold, stored } = attempt(agent, options);
    await expect(hold(Promise.resolve(MISSING))).rejects.toMatchObject({
      code: "ANT_VERIFY_NO_PROGRAM",
      detail: expect.stringContaining("no program pytest") as string,
      evidence: { key: "k" },
    });
    expect(stored).toMatchObject([{ verdict: "UNVERIFIABLE", trials: { base: MISSING.trials } }]);
  },
);

test.each<[string, Promise<RoomOutcome | null>]>([
  ["fails as checks of a fix do", Promise.resolve(FAILING)],
  ["had no room", Promise.resolve(null)],
])("it is dispatched where the base %s", async (_, base) => {
  await expect(attempt(AGENT).hold(base)).resolves.toBeUndefined();
});

test("it is dispatched when its checks take longer on the base, and not before", async () => {
  vi.useFakeTimers();
  let isDispatched = false;
  const held = attempt(AGENT)
    .hold(never)
    .then(() => (isDispatched = true));
  await vi.advanceTimersByTimeAsync(limits.paidAttemptHoldMs - 1);
  expect(isDispatched).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await held;
});

test("a further attempt, and an agent without model calls, wait for nothing", async () => {
  await expect(attempt(AGENT, {}, 2).hold(never)).resolves.toBeUndefined();
  await expect(attempt({ kind: "command", argv: ["a"] }).hold(never)).resolves.toBeUndefined();
  await expect(attempt(AGENT, PAID, 1, "git").hold(never)).resolves.toBeUndefined();
});

test("the wait ends when the Director stops", async () => {
  const stop = new AbortController();
  const held = attempt(AGENT).hold(never, stop.signal);
  stop.abort();
  await expect(held).rejects.toMatchObject({ code: "ANT_SANDBOX_CANCELED" });
});
