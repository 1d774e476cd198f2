import { expect, it } from "vitest";
import { RecentNames } from "./recent-names.ts";

it("a name counts as stored for a while after it was seen, with that digest only", () => {
  let now = 0;
  const names = new RecentNames(() => now, 100);
  names.add("a", "sha256-1");
  expect([names.has("a", "sha256-1"), names.has("a", "sha256-2"), names.has("b", "sha256-1")]).toEqual([
    true,
    false,
    false,
  ]);
  now = 99;
  expect(names.has("a", "sha256-1")).toBe(true);
  now = 100;
  expect(names.has("a", "sha256-1")).toBe(false);
});

it("the oldest of too many names is forgotten, and seeing a name again makes it young", () => {
  const names = new RecentNames(() => 0, 100, 2);
  names.add("a", "1");
  names.add("b", "1");
  names.add("a", "1");
  names.add("c", "1");
  expect(["a", "b", "c"].map((name) => names.has(name, "1"))).toEqual([true, false, true]);
  names.forget("a");
  expect(names.has("a", "1")).toBe(false);
});
