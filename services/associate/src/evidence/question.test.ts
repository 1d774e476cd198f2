import { describe, expect, it, test } from "vitest";
import type { SandboxOutcome } from "@antiphon/contracts";
import {
  ownQuestion,
  QUESTION_FILE,
  questionIn,
  questionLeft,
  questionStep,
  withoutQuestion,
} from "./question.ts";

const outcome = (tail: string, exitCode: number | null, over: object = {}): SandboxOutcome =>
  ({
    outcome: "completed",
    steps: [
      { id: "work-1", exitCode: 0 },
      { id: "question", exitCode, stdout: { tail, blob: null } },
    ],
    ...over,
  }) as unknown as SandboxOutcome;

test("the job stops at a question, and goes on without one", () => {
  expect(questionStep({ A: "1" }, 5)).toMatchObject({
    continueOnFailure: false,
    env: { A: "1" },
    timeoutMs: 5,
  });
  expect(questionStep({}, 5).argv.at(-1)).toBe(QUESTION_FILE);
});

test("a question is plain text of a bounded length", () => {
  expect(questionIn(outcome("Which one?\r\n\u001b[31mred\u202e?\n", 1))).toBe("Which one?\n [31mred ?");
  expect(questionIn(outcome("x".repeat(9000), 1))).toMatch(/^x{3999}…$/);
});

test.each([
  ["wrote nothing", outcome("", 0)],
  ["wrote only blanks", outcome(" \n\t ", 1)],
  ["works in an image without the programs that look for it", outcome("", 127)],
  ["was killed with its sandbox", outcome("Which?", 1, { outcome: "oom" })],
  ["never got so far", outcome("", 0, { steps: [{ id: "work-1", exitCode: 2 }] })],
])("an agent that %s asks nothing", (_, given) => {
  expect(questionIn(given)).toBeNull();
});

describe("a question that is left with exit code 78", () => {
  const left = (text: string, exitCode = 78) =>
    questionLeft({ outcome: "completed", steps: [{ exitCode }] } as unknown as SandboxOutcome, {
      files: [{ path: ".antiphon/question.json", mode: "100644", content: Buffer.from(text) }],
      deletions: [],
    });

  it("is told with its choices", () => {
    expect(left('{"question": "Which?"}')).toBe("Which?");
    expect(left('{"question": "Which?", "choices": ["a", 1, "b"]}')).toBe("Which? [a | b]");
  });

  it.each([
    "",
    "null",
    "[]",
    '"x"',
    '{"question": 1}',
    '{"question": " "}',
    "{".repeat(1e5),
    " ".repeat(1e6),
  ])("is none if the file is %j", (text) => expect(left(text)).toBeNull());

  it("is none with another code, and is no part of the change", () => {
    expect(left('{"question": "Which?"}', 1)).toBeNull();
    const files = ["a.txt", ".antiphon/question.json"].map((path) => ({
      ...{ path, mode: "100644" as const, content: Buffer.alloc(0) },
    }));
    expect(withoutQuestion({ files, deletions: [] }).files.map(({ path }) => path)).toEqual(["a.txt"]);
  });
});

describe("a question by a pack's own protocol", () => {
  const ended = (exitCode: number, tail = "", end = "completed"): SandboxOutcome =>
    ({ outcome: end, steps: [{ id: "work-1", exitCode, stdout: { tail } }] }) as unknown as SandboxOutcome;
  const left = (text: string) => ({
    files: [{ path: ".own/ask", mode: "100644" as const, content: Buffer.from(text) }],
    deletions: [],
  });
  const FILE = { exit_code: 9, file: ".own/ask" };

  it("is the end of its output, or the text or the object in its file", () => {
    expect(ownQuestion({ exit_code: 9 }, ended(9, `${"x".repeat(9000)}Which?\n`), left(""))).toMatch(
      /^x+Which\?$/,
    );
    expect(ownQuestion(FILE, ended(9), left("Which?\n"))).toBe("Which?");
    expect(ownQuestion(FILE, ended(9), left('{"question": "Which?", "choices": ["a", "b"]}'))).toBe(
      "Which? [a | b]",
    );
  });

  it("is none with another code, without its file, without a word, or if the sandbox died", () => {
    expect(ownQuestion({ exit_code: 9 }, ended(1, "Which?"), left(""))).toBeNull();
    expect(ownQuestion({ exit_code: 9 }, ended(9, " \n"), left(""))).toBeNull();
    expect(ownQuestion({ exit_code: 9 }, ended(9, "Which?", "oom"), left(""))).toBeNull();
    expect(ownQuestion(FILE, ended(9, "Which?"), { files: [], deletions: [] })).toBeNull();
    expect(ownQuestion(FILE, ended(9), left("x".repeat(70_000)))).toBeNull();
    const check = {
      outcome: "completed",
      steps: [{ id: "check-1", exitCode: 9, stdout: { tail: "Which?" } }],
    };
    expect(ownQuestion({ exit_code: 9 }, check as unknown as SandboxOutcome, left(""))).toBeNull();
    expect(ownQuestion(undefined, ended(9, "Which?"), left("Which?"))).toBeNull();
  });
});
