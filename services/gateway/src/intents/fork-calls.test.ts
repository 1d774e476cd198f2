import { ALL_CALLS, AntiphonError } from "@antiphon/contracts";
import type { EvidenceManifest } from "@antiphon/contracts";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { requireCalls } from "./fork-calls.ts";

const T1 = "T-001";
const log = new RecordLog().opened([planned(T1)]);
log.dispatched(T1).claimed(T1).reported(T1, 1, "failed").dispatched(T1, 2).claimed(T1, 2);
const { runId: run, records } = log;

const holding = (calls: number) => async () => {
  const files = Array.from({ length: calls }, (_, i) => ({ path: `egress/model-000${i + 1}.json` }));
  return Promise.resolve({ files: [...files, { path: "egress/summary.json" }] } as EvidenceManifest);
};
const tried = async (calls: number, recorded: number, epoch = 1) => {
  try {
    await requireCalls({ run, task: T1, epoch, calls }, records, holding(recorded));
    return null;
  } catch (error) {
    const { code, detail, remedy } = AntiphonError.from(error);
    return { code, detail, remedy };
  }
};

test("a fork at an attempt, or after a model call that is recorded, may start", async () => {
  for (const [calls, recorded] of [
    [0, 0],
    [1, 2],
    [2, 2],
    [ALL_CALLS, 2],
  ] as const)
    expect(await tried(calls, recorded)).toBeNull();
});

test("a fork after a model call that was never made is refused, and told which events can be forked", async () => {
  const code = "ANT_REPLAY_NO_RECORD";
  const none = { code, detail: `attempt 1 of ${T1} in ${run} has 0 recorded model calls` };
  for (const calls of [1, ALL_CALLS]) {
    expect(await tried(calls, 0)).toMatchObject(none);
    expect((await tried(calls, 0))?.remedy).toContain(`Begin at one of these: ${T1}:1, ${T1}:2. `);
  }
  const some = await tried(3, 2);
  expect(some).toMatchObject({ code, detail: `attempt 1 of ${T1} in ${run} has 2 recorded model calls` });
  expect(some?.remedy).toContain(`${T1}:1, ${T1}:1/1 to ${T1}:1/2, ${T1}:2. `);
  expect((await tried(1, 1, 2))?.remedy, "the second attempt has no evidence yet").toContain(`${T1}:1/1, `);
});
