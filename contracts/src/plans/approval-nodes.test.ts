import { describe, expect, test } from "vitest";
import type { Plan } from "../seeds/plan.ts";
import { readPlan } from "./read-plan.ts";

const node = (id: string, kind: Plan["nodes"][number]["kind"], deps: string[] = [], budget?: object) => ({
  ...{ id, kind, deps },
  ...(budget === undefined ? {} : { budget }),
});
const tasksOf = (...nodes: object[]) => {
  const read = readPlan({ nodes });
  if (!read.ok) throw new Error(JSON.stringify(read.problem));
  return read.plan.tasks.map(({ id, dependencies, approvals }) => [id, dependencies, approvals?.needed ?? 0]);
};
const faultOf = (...nodes: object[]) => {
  const read = readPlan({ nodes });
  return read.ok ? null : read.problem.path;
};

describe("an approval node of a Plan.v0", () => {
  test("asks people about the changes of the nodes before it, and the nodes after it wait", () => {
    const nodes = [node("1", "compute"), node("ok", "approval", ["1"]), node("2", "compute", ["ok"])];
    expect(tasksOf(...nodes)).toEqual([
      [1, [], 1],
      [2, [1], 0],
    ]);
  });

  test("names the number of people in its budget, and the most of several nodes counts", () => {
    const nodes = [
      node("1", "compute"),
      node("2", "compute"),
      node("a", "approval", ["1", "2"], { approvals: 2 }),
      node("b", "approval", ["1"], { approvals: 3 }),
    ];
    expect(tasksOf(...nodes).map(([, , needed]) => needed)).toEqual([3, 2]);
  });

  test("behind another approval node is about the same changes", () => {
    const nodes = [
      node("1", "compute"),
      node("a", "approval", ["1"]),
      node("b", "approval", ["a"], { approvals: 2 }),
      node("2", "io", ["b"]),
    ];
    expect(tasksOf(...nodes)).toEqual([
      [1, [], 2],
      [2, [1], 0],
    ]);
  });

  test("that is about no change, or about no number of people, is refused with its place", () => {
    expect(faultOf(node("1", "io"), node("a", "approval", ["1"]))).toBe("/nodes/1/deps");
    for (const approvals of [0, 17, 1.5, "2"])
      expect(faultOf(node("1", "compute"), node("a", "approval", ["1"], { approvals }))).toBe(
        "/nodes/1/budget/approvals",
      );
  });

  test("in a circle of approval nodes is no plan", () => {
    expect(faultOf(node("a", "approval", ["b"]), node("b", "approval", ["a"]))).toBe("/nodes");
  });

  test("that names a node which does not exist is refused as such", () => {
    expect(
      faultOf(node("1", "compute"), node("a", "approval", ["1"]), node("2", "compute", ["a", "x"])),
    ).not.toBeNull();
  });
});
