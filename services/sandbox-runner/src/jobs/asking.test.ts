import { limits, type SandboxEvent } from "@antiphon/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Asking } from "./asking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function asking() {
  const said: SandboxEvent[] = [];
  const answers: string[] = [];
  const named: number[] = [];
  const one = new Asking({
    sandbox: {
      run: () => Promise.reject(new Error("nothing is run")),
      canAsk: true,
      answer: (text) => answers.push(text),
    },
    emit: (event) => said.push(event),
    goesOnFor: (epoch) => named.push(epoch),
  });
  return { one, said, answers, named };
}
const answer = (number: number, text = "yes") => ({ kind: "answer" as const, number, text, epoch: 2 });

test("a question is repeated until it is answered, and an answer counts once", () => {
  const { one, said, answers, named } = asking();
  one.ask("Which?");
  one.repeat();
  one.answer(answer(2)); // of no question
  one.answer(answer(1));
  one.answer(answer(1, "no"));
  one.repeat();
  const question = { kind: "question", number: 1, text: "Which?" };
  expect([said, answers, named]).toEqual([[question, question], ["yes"], [2]]);
});

test("all questions of a job together wait for a limited time", () => {
  const { one } = asking();
  one.ask("First?");
  vi.advanceTimersByTime(limits.askHoldMs - 1000);
  one.answer(answer(1));
  one.ask("Second?");
  vi.advanceTimersByTime(999);
  expect(one.unanswered.aborted).toBe(false);
  vi.advanceTimersByTime(2);
  expect(one.unanswered.aborted).toBe(true);
});

test("a command that ended has no open question, and its waiting is counted", () => {
  const { one, said, answers } = asking();
  one.ask("Which?");
  vi.advanceTimersByTime(5000);
  expect(one.end()).toBe(5000);
  one.answer(answer(1));
  one.repeat();
  vi.advanceTimersByTime(limits.askHoldMs);
  expect([said.length, answers, one.unanswered.aborted]).toEqual([1, [], false]);
});
