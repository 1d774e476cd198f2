import { expect, it } from "vitest";
import { hasRoom, pauseMs } from "./pool-plan.ts";

it("the pool fills its warm places, and all places together", () => {
  const room = (ready: number, leased: number): boolean => hasRoom({ ready, leased }, { warm: 3, slots: 4 });
  expect([room(2, 0), room(3, 0), room(2, 4), room(2, 5), room(0, 7)]).toEqual([
    true,
    false,
    true,
    false,
    false,
  ]);
});

it("the pool pauses after failures, longer each time", () => {
  expect([0, 1, 2, 3, 20].map(pauseMs)).toEqual([0, 500, 1000, 2000, 30_000]);
});
