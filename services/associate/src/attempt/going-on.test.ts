import { spawnSync } from "node:child_process";
import { limits } from "@antiphon/contracts";
import { expect, test } from "vitest";
import type { GoesOn } from "../ports.ts";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { answerTo } from "./going-on.ts";
import type { JobFacts } from "./running-job.ts";

/** What the script around a program reads, as it takes it apart. */
function partsOf(told: GoesOn["told"], question: string, answer: string) {
  const answers = Array.from({ length: 16 }, (_, i) => ({ question: `${i} ${question}`, answer }));
  const dispatch = dispatchOf({ answers });
  const before = { dispatch, told: { previousDiff: null, told: [] }, change: null };
  const goesOn: GoesOn = { argv: ["agent"], toldBy: "argument", told };
  const facts = { before, work: { goesOn } } as unknown as JobFacts;
  const asked = { number: 1, text: question, hasEnded: true, tree: null, step: null };
  const said = answerTo(asked, answer, facts, { dispatch, epoch: 2 });
  const [epoch = "", brief = "", ...prompt] = said.split("\n");
  return { said, epoch, brief, prompt: prompt.join("\n") };
}

test.each(["prompt", "answer", "brief"] as const)(
  "a program that is told its %s is started again with answers of people in any script, by the limits of the system",
  (told) => {
    const [question, answer] = ["何色?".repeat(1000), "日本語の答え".repeat(1365)];
    const { said, epoch, brief, prompt } = partsOf(told, question, answer);
    const { status, error } = spawnSync("true", [prompt], { env: { ANTIPHON_TASK: brief } });
    expect([error, status]).toEqual([undefined, 0]);
    expect(said.length).toBeLessThanOrEqual(limits.answerChars);
    expect(epoch).toBe("2");
    const { answers, task } = JSON.parse(brief) as { answers: object[]; task: object };
    expect(answers.at(-1)).toEqual({ question: `15 ${question}`, answer });
    expect(task).toEqual(dispatchOf().task);
    if (told === "answer") expect(prompt).toContain("Go on with the task.");
  },
);
