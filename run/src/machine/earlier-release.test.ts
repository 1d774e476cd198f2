/** The records in `earlier-release.jsonl` were written by the release whose rules are named in each test. */
import { readFileSync } from "node:fs";
import type { StoredRecord } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { factsOf } from "../facts/facts-fold.ts";
import { outstanding } from "../owed/outstanding.ts";
import { runView } from "../view/run-view.ts";
import { openRun, replay } from "./replay.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };

const records = readFileSync(new URL("earlier-release.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as StoredRecord & { at: string })
  .map((record): StoredRecord => ({ ...record, at: new Date(record.at) }));

test("run/R1: a journal from when an answer did not bar its writer from approving folds to what that release decided, record by record", async () => {
  const lines = records.map(({ type, taskId, epoch }, i) => {
    const read = records.slice(0, i + 1);
    const run = replay(openRun(read[0]!.runId, POLICY), read);
    const { status, context } = run;
    const phases = context.tasks.map(({ phase }) => `${phase.kind}@${phase.epoch}`).join(" ");
    const owed = outstanding(run).map((effect) => `${effect.kind} ${effect.taskId ?? "-"}`);
    const refused = context.refused === null ? "" : ` REFUSED ${context.refused.reason}`;
    return `${type} ${taskId ?? "-"} ${epoch} | ${run.value} ${status} | ${phases} | ${owed.join(", ")} | ${runView(factsOf(read)).status}${refused}`;
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("earlier-release.txt");
});
