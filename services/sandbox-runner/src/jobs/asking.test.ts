import { limits, type SandboxEvent } from "@antiphon/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Asking } from "./asking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function asking(tree?: () => Promise<{ overlay: null; deletions: string[] } | null>) {
  const said: SandboxEvent[] = [];
  const reported: string[] = [];
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
    report: (text) => reported.push(text),
    ...(tree === undefined ? {} : { tree }),
  });
  return { one, said, answers, named, reported };
}
/** Lets all that waits for no timer go on. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};
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
  await settled();
  expect(said).toEqual([]);
  read({ overlay: null, deletions: ["gone.txt"] });
  await settled();
  one.repeat();
  const question = { kind: "question", number: 1, text: "Which?" };
  const told = { ...question, tree: { overlay: null, deletions: ["gone.txt"] } };
  expect(said).toEqual([told, told]);
  one.ask("And which?");
  await settled();
  read(null);
  await settled();
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
  await settled();
  one.ask("And which?", reads(null));
  await settled();
  expect(said).toEqual([
    { kind: "question", number: 1, text: "Which?", step },
    { kind: "question", number: 2, text: "And which?" },
  ]);
  expect(read).toEqual(["files", "output", "files", "output"]);
});

test("a store that stalls holds a question for a limited time only, and the files that were read are told", async () => {
  const { one, said, reported } = asking(() => Promise.resolve({ overlay: null, deletions: ["gone.txt"] }));
  let late = (_step: null): void => undefined;
  one.ask("Which?", () => new Promise((resolve) => (late = resolve)));
  await vi.advanceTimersByTimeAsync(limits.askStateMs - 1);
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const told = {
    ...{ kind: "question", number: 1, text: "Which?" },
    tree: { overlay: null, deletions: ["gone.txt"] },
  };
  expect(said).toEqual([told]);
  expect(reported).toEqual([
    "the question goes out without all that is kept with it: the store did not answer in time",
  ]);
  late(null);
  await settled();
  one.repeat();
  expect(said).toEqual([told, told]);
});

test("files that cannot be read leave no unhandled rejection, and the question is told without them", async () => {
  const { one, said, reported } = asking(() => Promise.reject(new Error("no such object")));
  one.ask("Which?");
  await settled();
  expect(said).toEqual([{ kind: "question", number: 1, text: "Which?" }]);
  expect(reported).toEqual(["the question goes out without all that is kept with it: no such object"]);
});

test("a question that replaces another has its files read only when those of the other are, so that one is held at a time", async () => {
  const ends: (() => void)[] = [];
  const { one, said } = asking(() => new Promise((resolve) => ends.push(() => resolve(null))));
  one.ask("First?");
  await settled();
  for (const text of ["Second?", "Third?"]) one.ask(text);
  await settled();
  expect(ends.length).toBe(1);
  ends[0]?.();
  await settled();
  expect(ends.length).toBe(2); // the second question is no longer open
  ends[1]?.();
  await settled();
  expect(said).toEqual([{ kind: "question", number: 3, text: "Third?" }]);
});

test("a program that asks again and again has its files read a few times only, and is heard nevertheless", async () => {
  let reads = 0;
  const { one, said } = asking(() => {
    reads += 1;
    return Promise.resolve({ overlay: null, deletions: [] });
  });
  for (let i = 0; i < 100; i += 1) {
    one.ask(`Which ${i}?`);
    await settled();
  }
  expect(reads).toBe(16);
  expect([said.length, said.at(-1)]).toEqual([100, { kind: "question", number: 100, text: "Which 99?" }]);
});

test("the files of a question whose command has ended tell nothing", async () => {
  let read = (_tree: null): void => undefined;
  const { one, said } = asking(() => new Promise((resolve) => (read = resolve)));
  one.ask("Which?");
  await settled();
  one.end();
  read(null);
  await settled();
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
