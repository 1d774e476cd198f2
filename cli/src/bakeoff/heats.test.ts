import { expect, test } from "vitest";
import { Failure } from "../failure.ts";
import { runHeats } from "./heats.ts";

const GONE = new Failure("ANT_REPO_NOT_FOUND", "there is no repository", { data: { httpStatus: 404 } });
const UNREACHABLE = new Failure("ANT_GATEWAY_UNREACHABLE", "no gateway answers", { data: { lost: false } });
const HEATS = ["a", "b", "c", "d"];
const never = new AbortController().signal;

/** What is thrown, by the heat. */
interface Failing {
  readonly starts?: Readonly<Record<string, Error>>;
  readonly ends?: Readonly<Record<string, Error>>;
}

/** Heats whose start or end fails, and what was started. */
function course({ starts = {}, ends = {} }: Failing) {
  const started: string[] = [];
  return {
    started,
    start: async (heat: string) => {
      const failure = starts[heat];
      if (failure !== undefined) throw failure;
      started.push(heat);
      return `run_${heat}`;
    },
    measure: async (heat: string, runId: string) => {
      const failure = ends[heat];
      if (failure !== undefined) throw failure;
      return runId;
    },
  };
}

test.each([1, 2])("a start that is refused takes no other run with it, %i at once", async (atOnce) => {
  const { outcomes, stoppedBy } = await runHeats(HEATS, atOnce, course({ starts: { b: GONE } }), never);
  expect(outcomes.map(({ runId, measured }) => [runId, measured])).toEqual([
    ["run_a", "run_a"],
    [null, null],
    ["run_c", "run_c"],
    ["run_d", "run_d"],
  ]);
  expect([outcomes[1]?.failure, stoppedBy]).toEqual([GONE, null]);
});

test.each([
  ["the gateway is gone", UNREACHABLE, "ANT_GATEWAY_UNREACHABLE"],
  [
    "the token is wrong",
    new Failure("ANT_GATEWAY_TOKEN_REQUIRED", "a token", { data: { httpStatus: 401 } }),
    "ANT_GATEWAY_TOKEN_REQUIRED",
  ],
  ["the command is broken", new TypeError("x is not a function"), "ANT_INTERNAL"],
])("nothing more is started if %s, and what was measured is kept", async (_why, thrown, code) => {
  const held = course({ starts: { b: thrown } });
  const { outcomes, stoppedBy } = await runHeats(HEATS, 1, held, never);
  expect([held.started, stoppedBy?.code]).toEqual([["a"], code]);
  expect(outcomes.map(({ runId, failure }) => [runId, failure?.code ?? null])).toEqual([
    ["run_a", null],
    ...["b", "c", "d"].map(() => [null, code]),
  ]);
});

test("a run whose end cannot be seen keeps its id", async () => {
  const { outcomes } = await runHeats(["a", "b"], 1, course({ ends: { a: UNREACHABLE } }), never);
  expect(outcomes).toMatchObject([
    { runId: "run_a", measured: null, failure: { code: "ANT_GATEWAY_UNREACHABLE" } },
    { runId: null, measured: null },
  ]);
});

test("nothing more is started once it is stopped, and the run under way is waited for", async () => {
  const stop = new AbortController();
  const held = course({});
  const measure = async (_heat: string, runId: string) => {
    stop.abort();
    return runId;
  };
  const { outcomes, stoppedBy } = await runHeats(HEATS, 1, { ...held, measure }, stop.signal);
  expect([held.started, stoppedBy]).toEqual([["a"], null]);
  expect(outcomes.map(({ runId, failure }) => [runId, failure])).toEqual([
    ["run_a", null],
    ...["b", "c", "d"].map(() => [null, null]),
  ]);
});
