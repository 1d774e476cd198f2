import type { TreeRef } from "@antiphon/contracts";
import { openRun, replay, type RunState } from "@antiphon/run";
import { BASE, RecordLog, planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { decidingTree } from "./dispatch-environment.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const GATE = { skill: "reviewer", of: "T-001", blocks: "error" } as const;
const treeOf = (commit: string): TreeRef => ({ commit, tree: commit, object: commit, bytes: 0, files: 0 });
const CHANGED = treeOf("c".repeat(40));
const repository = { exportBase: (_repo: unknown, commit: string) => Promise.resolve(treeOf(commit)) };

function opened(policy?: { profiles: string[]; own_judges?: boolean }): RunState {
  const log = new RecordLog().opened([planned("T-001")]);
  const [intent] = log.records;
  if (intent?.type !== "intent") throw new Error("no intent");
  const records = [
    { ...intent, body: { ...intent.body, ...(policy && { policy }) } },
    ...log.records.slice(1),
  ];
  return replay(openRun(log.runId, POLICY), records).context;
}
const decides = async (run: RunState, gate?: typeof GATE) =>
  (await decidingTree(run, gate, Promise.resolve(CHANGED), repository)).commit;

test("the environment of a judge is that of the commit that people gave, so no change prepares its own judge", async () => {
  expect(await decides(opened(), GATE)).toBe(BASE);
  expect(await decides(opened({ profiles: ["team"] }), GATE)).toBe(BASE);
});

test("an author, and a judge that the run may bring itself, has the environment of the tree that it works on", async () => {
  expect(await decides(opened({ profiles: ["team"] }))).toBe(CHANGED.commit);
  expect(await decides(opened({ profiles: ["me"], own_judges: true }), GATE)).toBe(CHANGED.commit);
});
