import { isDeepStrictEqual } from "node:util";
import { JOURNAL_TYPES, type StoredRecord } from "@antiphon/contracts";
import { transition } from "xstate";
import { describe, expect, test } from "vitest";
import { emptyRun, type RunPolicy } from "../state/run-state.ts";
import { RecordLog, commitOf, planned } from "../testing/record-log.ts";
import { randomRun } from "../testing/random-run.ts";
import { openRun, replay, type RunSnapshot } from "./replay.ts";
import { runMachine } from "./run-machine.ts";
import { RUN_TABLE } from "./run-table.ts";

/** For more: `ANTIPHON_RANDOM_RUNS=100000 npx vitest run --project unit run/src/machine/run-table.test.ts`. */
const RUNS = Number(process.env["ANTIPHON_RANDOM_RUNS"] ?? 300);
const POLICIES: readonly RunPolicy[] = [
  { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 },
  { maxAttempts: 1, maxLapses: 0, maxOutages: 0, maxIntegrations: 1, restMs: 5 },
];

const plain = ({
  value,
  status,
  context,
}: Pick<RunSnapshot, "context"> & { value: unknown; status: string }) => ({
  value,
  status,
  context,
});

/** Folds the records by the table and by xstate, and compares the two after each record. */
function foldBoth(runId: string, records: readonly StoredRecord[], policy: RunPolicy): Set<string> {
  const stages = new Set<string>();
  let ours = openRun(runId, policy);
  let theirs = runMachine.resolveState({ value: "queued", context: emptyRun(runId, policy) });
  for (const record of records) {
    ours = replay(ours, [record]);
    if (theirs.status === "active") [theirs] = transition(runMachine, theirs, { type: record.type, record });
    if (!isDeepStrictEqual(plain(ours), plain(theirs))) expect(plain(ours)).toEqual(plain(theirs));
    stages.add(ours.value);
  }
  return stages;
}

describe("the table of the run machine", () => {
  test(`folds ${RUNS} random runs as xstate does, record by record, and meets every stage`, () => {
    const stages = new Set<string>();
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const policy = POLICIES[seed % POLICIES.length]!;
      const records = randomRun(seed, policy);
      for (const stage of foldBoth(`run_${seed}`, records, policy)) stages.add(stage);
    }
    const lasting = Object.keys(RUN_TABLE).filter((stage) => stage !== "landed"); // It is left at once.
    expect([...stages].sort()).toEqual(lasting.sort());
  }, 1_800_000);

  test("has a row for each stage, and folds the types that the definition names", () => {
    expect(Object.keys(RUN_TABLE)).toEqual(Object.keys(runMachine.states));
    const refused = (stage: keyof typeof RUN_TABLE) =>
      JOURNAL_TYPES.filter((type) => !RUN_TABLE[stage].folds.has(type));
    expect(refused("working")).toEqual(["intent", "routed", "archived", "restored"]);
    expect([...RUN_TABLE.settled.folds].sort()).toEqual(["closed", "control", "message", "requeue"]);
  });

  test("run/R3: folds nothing after `closed`", () => {
    const log = new RecordLog().opened([planned("T-001")]).canceled();
    const policy = POLICIES[0]!;
    const body = { status: "canceled" as const, code: null, message: "", commit: null, landedOn: null };
    log.add("closed", null, 0, { ...body, seal: "", contract: {} as never });
    const closed = replay(openRun(log.runId, policy), log.records);
    expect(closed.status).toBe("done");
    expect(replay(closed, log.landed("T-001", 1, commitOf(1)).records)).toEqual(closed);
  });
});
