import { limits, type SandboxEvent } from "@antiphon/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Asking } from "./asking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function asking(tree?: () => Promise<{ overlay: null; deletions: string[] } | null>) {
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
    ...(tree === undefined ? {} : { tree }),
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

test("a question is told with the files of its time, as soon as they are read, and without them if they cannot be", async () => {
  let read = (_tree: { overlay: null; deletions: string[] } | null): void => undefined;
  const { one, said } = asking(() => new Promise((resolve) => (read = resolve)));
  one.ask("Which?");
  one.repeat();
  expect(said).toEqual([]);
  read({ overlay: null, deletions: ["gone.txt"] });
  await vi.advanceTimersByTimeAsync(0);
  one.repeat();
  const question = { kind: "question", number: 1, text: "Which?" };
  const told = { ...question, tree: { overlay: null, deletions: ["gone.txt"] } };
  expect(said).toEqual([told, told]);
  one.ask("And which?");
  read(null);
  await vi.advanceTimersByTimeAsync(0);
  expect(said.at(-1)).toEqual({ kind: "question", number: 2, text: "And which?" });
});

test("a question is told with what its command has printed, which is read after the files", async () => {
  const read: string[] = [];
  const output = { blob: null, bytes: 2, kept: 0, truncated: false, tail: "hi" };
  const step = {
    id: "work-1",
    exitCode: null,
    timedOut: false,
    durationMs: 1,
    stdout: output,
    stderr: output,
  };
  const { one, said } = asking(() => Promise.resolve(read.push("files")).then(() => null));
  const reads = (found: typeof step | null) => () => Promise.resolve(read.push("output")).then(() => found);
  one.ask("Which?", reads(step));
  await vi.advanceTimersByTimeAsync(0);
  one.ask("And which?", reads(null));
  await vi.advanceTimersByTimeAsync(0);
  expect(said).toEqual([
    { kind: "question", number: 1, text: "Which?", step },
    { kind: "question", number: 2, text: "And which?" },
  ]);
  expect(read).toEqual(["files", "output", "files", "output"]);
});

test("a program that asks again and again has its files read a few times only, and is heard nevertheless", async () => {
  let reads = 0;
  const { one, said } = asking(() => {
    reads += 1;
    return Promise.resolve({ overlay: null, deletions: [] });
  });
  for (let i = 0; i < 100; i += 1) {
    one.ask(`Which ${i}?`);
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(reads).toBe(16);
  expect([said.length, said.at(-1)]).toEqual([100, { kind: "question", number: 100, text: "Which 99?" }]);
});

test("the files of a question whose command has ended tell nothing", async () => {
  let read = (_tree: null): void => undefined;
  const { one, said } = asking(() => new Promise((resolve) => (read = resolve)));
  one.ask("Which?");
  one.end();
  read(null);
  await vi.advanceTimersByTimeAsync(0);
  expect(said).toEqual([]);
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
