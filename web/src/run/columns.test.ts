import { expect, it } from "vitest";
import { columnsOf } from "./columns.ts";

const task = (id: string, ...deps: string[]) => ({ id, deps });
const idsOf = (tasks: Parameters<typeof columnsOf>[0]) =>
  columnsOf(tasks).map((column) => column.map(({ id }) => id));

it("puts a task after the longest of its chains", () => {
  expect(idsOf([task("a"), task("b", "a"), task("c", "a", "b"), task("d")])).toEqual([
    ["a", "d"],
    ["b"],
    ["c"],
  ]);
});

it("ends for a circle and for an unknown dependency, which a damaged view may hold", () => {
  expect(
    idsOf([task("a", "b"), task("b", "a"), task("c", "nobody")])
      .flat()
      .sort(),
  ).toEqual(["a", "b", "c"]);
});
