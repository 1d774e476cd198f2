import { findCycle } from "@antiphon/contracts";
import type { TaskSpec } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git";
import { describe, expect, test } from "vitest";
import { filesOf, fullEffort, overlapOf } from "./glob-overlap.ts";
import { inWriteOrder } from "./write-order.ts";

const spec = (id: number, allowed_files?: string[], dependencies: number[] = []): TaskSpec => ({
  ...{ id, description: `task ${id}`, dependencies },
  ...(allowed_files === undefined ? {} : { allowed_files }),
});
const edits = (): boolean => true;
const waitsOf = (...specs: TaskSpec[]) => inWriteOrder(specs, edits).waits.map(({ task, on }) => [task, on]);

describe("tasks that may change the same files", () => {
  test("run one after the other in the order of the plan, with the reason", () => {
    const { specs, waits } = inWriteOrder(
      [spec(1, ["src/a.ts"]), spec(2, ["src/**"]), spec(3, ["docs/"])],
      edits,
    );
    expect(waits).toEqual([{ task: 2, on: 1, why: "the files src/a.ts and src/** overlap" }]);
    expect(specs.map(({ dependencies }) => dependencies)).toEqual([[], [1], []]);
  });

  test("wait once: what follows from other dependencies is not added", () => {
    expect(waitsOf(spec(1, ["a"]), spec(2, ["a"], [1]), spec(3, ["a"]))).toEqual([[3, 2]]);
  });

  test("keep the order of the graph, also where a later task comes first", () => {
    expect(waitsOf(spec(1, ["a"], [3]), spec(2, ["a"]), spec(3, ["b"]))).toEqual([[2, 1]]);
  });

  test("are those without a list of files too, if the list is empty; without the field they are not compared", () => {
    expect(waitsOf(spec(1, []), spec(2, ["x"]), spec(3))).toEqual([[2, 1]]);
    expect(inWriteOrder([spec(1, []), spec(2, [])], edits).waits[0]?.why).toBe("both may change any file");
  });

  test("are only those that edit", () => {
    expect(inWriteOrder([spec(1, []), spec(2, [])], ({ id }) => id === 1).waits).toEqual([]);
  });

  test("never form a circle, and every two of them are ordered in the end", () => {
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const globs = ["a", "a/b.ts", "a/**", "*.ts", "b/*", "b/c", "**/*.ts"];
    for (let round = 0; round < 300; round += 1) {
      const count = 2 + random(8);
      const specs = Array.from({ length: count }, (_, i) => {
        const later = Array.from({ length: count - i - 1 }, (__, k) => i + k + 2).filter(
          () => random(5) === 0,
        );
        return spec(i + 1, [globs[random(globs.length)] ?? "a"], later);
      });
      const ordered = inWriteOrder(specs, edits).specs;
      const nodes = ordered.map(({ id, dependencies }) => ({
        id: String(id),
        deps: dependencies.map(String),
      }));
      expect(findCycle(nodes)).toBeNull();
      const below = (id: number): Set<number> =>
        new Set(ordered.find((one) => one.id === id)?.dependencies.flatMap((dep) => [dep, ...below(dep)]));
      for (const a of ordered)
        for (const b of ordered) {
          if (a.id >= b.id) continue;
          if (
            overlapOf(filesOf(a.allowed_files ?? []), filesOf(b.allowed_files ?? []), fullEffort()) === null
          )
            continue;
          expect(below(a.id).has(b.id) || below(b.id).has(a.id)).toBe(true);
        }
    }
  });
});

describe("globs", () => {
  const meet = (a: string, b: string): boolean =>
    overlapOf(filesOf([a]), filesOf([b]), fullEffort()) !== null;

  test.each([
    ["src/a.ts", "src/a.ts", true],
    ["src", "src/a/b.ts", true],
    ["src/", "src/a.ts", true],
    ["src/*", "src/a/b.ts", false],
    ["src/**", "src/a/b.ts", true],
    ["**/*.ts", "docs/a.md", false],
    ["*.{ts,js}", "a.js", true],
    ["[id].ts", "i.ts", false],
    ["a?c", "abc", true],
    ["a*c", "*b*", true],
    ["a*c", "*d", false],
    ["\\*.ts", "a.ts", false],
    ["./src/a", "src/a", true],
  ])("%s and %s: %s", (a, b, expected) => {
    expect(meet(a, b)).toBe(expected);
    expect(meet(b, a)).toBe(expected);
  });

  test("overlap whenever a path matches both", () => {
    const globs = ["a", "a/", "a/*", "a/**", "**/b", "*", "?/b", "a/{b,c}", "**", "a*/b", "*/b/**"];
    const paths = ["a", "b", "a/b", "a/c", "a/b/c", "ab/b", "x/b", "x/y/b", "x/b/z"];
    for (const one of globs)
      for (const other of globs) {
        const [left, right] = [pathMatcher([one]), pathMatcher([other])];
        if (paths.some((path) => left.matches(path) && right.matches(path)))
          expect(meet(one, other), `${one} ${other}`).toBe(true);
      }
  });

  test("that would take long to compare count as overlapping; a large plan of folders does not", () => {
    const [a, b] = [filesOf(["a".repeat(300)]), filesOf(["b*".repeat(150)])];
    expect(overlapOf(a, b, fullEffort())).toBeNull();
    expect(overlapOf(a, b, { left: 1000 })).not.toBeNull();
    const large = Array.from({ length: 256 }, (_, i) =>
      spec(i + 1, [`src/part-${i}/**`, `test/part-${i}.test.ts`]),
    );
    expect(waitsOf(...large)).toEqual([]);
  });
});
