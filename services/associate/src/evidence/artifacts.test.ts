import { expect, test } from "vitest";
import { inBundle, setAside } from "./artifacts.ts";
import { dispatchOf } from "../testing/dispatch.fixture.ts";

const file = (path: string) => ({ path, mode: "100644" as const, content: Buffer.from(path) });
const change = { files: [file("plan.yaml"), file("src/a.ts")], deletions: ["b"] };
const task = (kind: "edit_repo" | "inspect", artifacts: string[]) => {
  const { task: own } = dispatchOf();
  return { ...own, kind, return: { ...own.return, artifacts } };
};

test("the files that a reading task was told to leave are no part of its change; all others are", () => {
  expect(setAside(task("inspect", ["plan.yaml"]), change)).toEqual({
    artifacts: [file("plan.yaml")],
    change: { files: [file("src/a.ts")], deletions: ["b"] },
  });
  expect(setAside(task("inspect", []), change).change).toBe(change);
  expect(setAside(task("edit_repo", ["plan.yaml"]), change)).toEqual({ artifacts: [], change });
  expect(inBundle(file("plan.yaml"))).toEqual({ path: "artifacts/plan.yaml", text: "plan.yaml" });
});
