import type { RunStep } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { factsOf } from "../facts/facts-fold.ts";
import { randomRun } from "../testing/random-run.ts";
import { runView } from "./run-view.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const RUNS = 24;

const stepText = (step: RunStep): string => {
  const { id, status, phase, epoch, attempts, verdict, code, message, commit, questions, associate } = step;
  const approval =
    step.approval === undefined ? "" : ` ${step.approval.state}(${step.approval.words.length})`;
  const facts = [verdict, code, message, commit?.slice(-4), associate].map((fact) => fact ?? "-").join(" ");
  return `${id} ${status}/${phase} ${epoch} ${attempts} ${facts} ${questions.length}?${approval}`;
};

/** The lines were written by the view that was a fold of its own, before it became a map over the facts. */
test("run/R1: the views of random runs, record by record, are the golden ones", async () => {
  const lines: string[] = [];
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const records = randomRun(seed, POLICY);
    lines.push(`# run_${seed}`);
    for (const [i, { type, taskId, epoch }] of records.entries()) {
      const { status, steps, artifacts } = runView(factsOf(records.slice(0, i + 1)));
      const kinds = artifacts.map(({ kind }) => kind[0]).join("");
      lines.push(
        `${type} ${taskId ?? "-"} ${epoch} | ${status} ${kinds} | ${steps.map(stepText).join(" | ")}`,
      );
    }
  }
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("golden-views.txt");
});
