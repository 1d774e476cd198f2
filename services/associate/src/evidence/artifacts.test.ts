import type { SandboxOutcome } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { artifactSteps, setAside } from "./artifacts.ts";
import { dispatchOf, output } from "../testing/dispatch.fixture.ts";

const file = (path: string) => ({ path, mode: "100644" as const, content: Buffer.from(path) });
const change = { files: [file("plan.yaml"), file("src/a.ts")], deletions: ["b"] };
const task = (kind: "edit_repo" | "inspect", artifacts: string[]) => {
  const { task: own } = dispatchOf();
  return { ...own, kind, return: { ...own.return, artifacts } };
};
const printed = (exitCode: number): SandboxOutcome => ({
  ...{ outcome: "completed", code: null, message: "", changes: null },
  steps: [
    {
      ...{ id: "artifact-1", exitCode, timedOut: false, durationMs: 1 },
      ...{ stdout: output("tasks: []\n"), stderr: output("") },
    },
  ],
  meta: { bootMs: 1, provider: "docker", node: "sr_1", image: "i", containerId: "c" },
});
const bundled = (text: string) => [{ path: "plan.yaml", file: { path: "artifacts/plan.yaml", text } }];

test("the files that a reading task was told to leave are no part of its change; all others are", () => {
  expect(setAside(task("inspect", ["plan.yaml"]), change, null)).toEqual({
    artifacts: bundled("plan.yaml"),
    change: { files: [file("src/a.ts")], deletions: ["b"] },
  });
  expect(setAside(task("inspect", []), change, null).change).toBe(change);
  expect(setAside(task("edit_repo", ["plan.yaml"]), change, null)).toEqual({ artifacts: [], change });
});

test("a file that git ignores is taken from what the sandbox printed, if it is there", () => {
  const nothing = { files: [], deletions: [] };
  const wants = task("inspect", ["plan.yaml"]);
  expect(setAside(wants, nothing, printed(0)).artifacts).toEqual(bundled("tasks: []\n"));
  expect(setAside(wants, nothing, printed(1)).artifacts).toEqual([]);
  expect(setAside(wants, change, printed(0)).artifacts).toEqual(bundled("plan.yaml"));
  expect(artifactSteps(wants, {}, 1).map(({ id, argv }) => [id, argv.at(-1)])).toEqual([
    ["artifact-1", "plan.yaml"],
  ]);
  expect(artifactSteps(task("edit_repo", ["plan.yaml"]), {}, 1)).toEqual([]);
});
