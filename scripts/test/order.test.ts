import { expect, test } from "vitest";
// @ts-expect-error Plain JavaScript without a declaration.
import { inOrder as untypedOrder, measured as untypedMeasured } from "./order.mjs";

interface File {
  readonly name: string;
  readonly project: string;
}
type Facts = { seconds: (file: File) => number | undefined; project: (file: File) => string };
type Report = { testResults: { name: string; startTime: number; endTime: number }[] };
const inOrder = untypedOrder as (files: readonly File[], facts: Facts) => File[];
type Measured = (report: Report, root: string, listed: ReadonlySet<string>) => Record<string, number>;
const measured = untypedMeasured as Measured;

const file = (name: string): File => ({ name, project: name.split("-")[0] ?? "" });

function ordered(seconds: Record<string, number>, more: readonly string[] = []): string[] {
  const files = [...Object.keys(seconds), ...more].map(file);
  return inOrder(files, { seconds: ({ name }) => seconds[name], project: ({ project }) => project }).map(
    ({ name }) => name,
  );
}

test("the longest file of a project starts first, and one that was not measured before those that take less", () => {
  expect(ordered({ "a-short": 1, "a-long": 90, "a-middle": 61, "a-less": 40 }, ["a-new"])).toEqual([
    ...["a-long", "a-middle", "a-new", "a-less", "a-short"],
  ]);
});

test("projects take turns by their share of the seconds", () => {
  const seconds = { "a-1": 60, "a-2": 30, "a-3": 30, "b-1": 15, "b-2": 15, "b-3": 10 };
  expect(ordered(seconds)).toEqual(["a-1", "b-1", "b-2", "a-2", "a-3", "b-3"]);
});

test("every file is in the order once, also of a project that takes no time", () => {
  const names = ["a-1", "b-1", "b-2", "c-1"];
  expect(ordered(Object.fromEntries(names.map((name) => [name, 0]))).toSorted()).toEqual(names);
});

test("a report gives the seconds of all listed files, by name, and a second of one that takes less", () => {
  const result = (name: string, ms: number) => ({ name, startTime: 1_000, endTime: 1_000 + ms });
  const testResults = [
    ...[result("/r/test/e2e/b.test.ts", 9_400), result("/r/test/e2e/a.test.ts", 5_000)],
    ...[result("/r/test/e2e/c.test.ts", 400), result("/r/run/src/d.test.ts", 60_000)],
    result("/r/test/chaos/unit.test.ts", 3_000),
  ];
  const listed = new Set(["a", "b", "c"].map((name) => `test/e2e/${name}.test.ts`));
  expect(measured({ testResults }, "/r", listed)).toEqual({
    ...{ "test/e2e/a.test.ts": 5, "test/e2e/b.test.ts": 9, "test/e2e/c.test.ts": 1 },
  });
});
