import { expect, test } from "vitest";
import { kindsToDrop, kindToStart } from "./pool-kinds.ts";

test("the kind with the fewest ready sandboxes is started, among equals the one asked for last", () => {
  expect(kindToStart(["attempt", "room"], ["room", "room"])).toBe("attempt");
  expect(kindToStart(["attempt", "room"], ["attempt"])).toBe("room");
  expect(kindToStart(["attempt", "room"], ["attempt", "room"])).toBe("attempt");
  expect(kindToStart([], ["room"])).toBeUndefined();
});

test("a full pool gives up one of its most numerous kind for a kind that has none, and keeps what is shared already", () => {
  expect(kindsToDrop(["attempt", "room"], ["room", "room", "room"], 3)).toEqual(["room"]);
  expect(kindsToDrop(["attempt", "room"], ["room", "attempt", "room"], 3)).toEqual([]);
  expect(kindsToDrop(["attempt", "room"], ["room", "room"], 3)).toEqual([]);
});

test("a pool that is to be smaller keeps one of each kind", () => {
  expect(kindsToDrop(["attempt", "room"], ["room", "attempt", "attempt"], 2)).toEqual(["attempt"]);
  expect(kindsToDrop(["attempt"], ["attempt", "attempt"], 1)).toEqual(["attempt"]);
});
