import type { SandboxOutcome } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { output as said } from "../testing/dispatch.fixture.ts";
import { answerOf, compileFiles, keptSession } from "./compile-answer.ts";
import type { Ran } from "./ran.ts";

const input = { intent: { goal: "g" }, schemaVersion: 0, seed: "0" };
const claimed = {
  plan: { nodes: [] },
  patch: { files: [{ path: "evil", diff: "x" }] },
  tests: ["true"],
  transcript: [],
};
const DIFF = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n";
const text = (): Promise<string> => Promise.resolve(JSON.stringify({ input, output: claimed }));

function ran(printed: string, exits: readonly number[] = [0], blob: unknown = null) {
  const step = { exitCode: 0, timedOut: false, durationMs: 1, stderr: said("") };
  const steps = [
    ...exits.map((exitCode, i) => ({ ...step, id: `work-${i + 1}`, exitCode, stdout: said("") })),
    { ...step, id: "compile", stdout: { ...said(printed), blob } },
  ];
  const outcome = { outcome: "completed", steps } as unknown as SandboxOutcome;
  const work = { compiles: { key: "k", input } } as Ran["work"];
  return { work, outcome, ending: { kind: "ran" } as const };
}

describe("the answer of an agent that compiles", () => {
  it("is read from the file, also if that is a large one", async () => {
    const session = { input, output: claimed };
    expect(await answerOf(ran(JSON.stringify({ output: claimed })), { text })).toEqual({ session });
    expect(await answerOf(ran("", [0], { name: "b" }), { text })).toEqual({ session });
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a request without an answer", JSON.stringify({ input })],
    ["another format", JSON.stringify({ output: { plan: {} } })],
    ["null", "null"],
  ])("is a fault of the agent if it left %s", async (_what, printed) => {
    expect(await answerOf(ran(printed), { text })).toMatchObject({ fault: { code: "ANT_AGENT_FAILED" } });
  });

  it("is not asked for if the agent failed, or was asked nothing", async () => {
    expect(await answerOf(ran("", [1]), { text })).toBeNull();
    expect(await answerOf({ ...ran(""), work: null }, { text })).toBeNull();
  });

  it("is kept with the change that was made here, byte by byte, and not with the patch that the agent claims", async () => {
    const second = "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\r\n+y\rdiff --git \r\n";
    const diff = { patch: `${DIFF}${second}`, files: ["a", "b"] };
    const kept = await keptSession({ input, output: claimed }, diff, [], { text });
    expect(kept?.change).toEqual({ diff: diff.patch, files: [] });
    expect(kept?.output.patch).toEqual({
      files: [
        { path: "a", diff: DIFF },
        { path: "b", diff: second },
      ],
    });
  });

  it("is kept with the files that the task was to leave, also if git ignores them or they are large", async () => {
    const blob = { bucket: "B", name: "b", digest: `sha256-${"A".repeat(43)}`, bytes: 1 };
    const artifacts = [
      { path: "plan.yaml", file: { path: "artifacts/plan.yaml", text: "tasks: []\r\n" } },
      { path: "more.md", file: { path: "artifacts/more.md", blob } },
    ];
    const kept = await keptSession({ input, output: claimed }, null, artifacts, {
      text: () => Promise.resolve("long"),
    });
    expect(kept?.change).toEqual({
      diff: null,
      files: [
        { path: "plan.yaml", text: "tasks: []\r\n" },
        { path: "more.md", text: "long" },
      ],
    });
  });

  it("is not kept if it changed and left nothing", async () => {
    expect(await keptSession({ input, output: claimed }, null, [], { text })).toBeNull();
  });

  it("has its request in the evidence even if there is none", () => {
    expect(compileFiles(undefined, null)).toEqual([]);
    const [file] = compileFiles(input, null);
    expect(file !== undefined && "text" in file && (JSON.parse(file.text) as unknown)).toEqual({ input });
  });
});
