import { expect, test } from "vitest";
import { beginning, judge, type Holder, type Sighting, type Signs } from "./holder-signs.ts";

const START = 100_000;
const LONG_UP = 0;

/** What an asker comes to, question by question: `[milliseconds since the first one, what it saw, up since, late by]`. */
function seen(...sightings: [number, Sighting["saw"], (number | null)?, number?][]): Holder | "asks on" {
  let signs: Signs = beginning(START);
  for (const [atMs, saw, upSinceMs = LONG_UP, lateMs = 0] of sightings) {
    const nowMs = START + atMs;
    const next = judge(signs, { saw, nowMs, dueMs: nowMs - lateMs, upSinceMs });
    if (typeof next === "string") return next;
    signs = next;
  }
  return "asks on";
}

test("associate/A8: a holder where nobody listens is gone after three answers over 400 ms", () => {
  expect(seen([0, "nobody"], [150, "nobody"], [300, "nobody"])).toBe("asks on");
  expect(seen([0, "nobody"], [150, "nobody"], [300, "nobody"], [450, "nobody"])).toBe("gone");
  expect(seen([0, "nobody"], [500, "nobody"])).toBe("asks on");
});

test("associate/A8: a holder that listens and does not answer keeps the rest of its lease", () => {
  expect(seen([1000, "silent"], [2000, "silent"], [2900, "silent"])).toBe("asks on");
  expect(seen([1000, "silent"], [2000, "silent"], [3000, "silent"])).toBe("silent");
});

test("associate/A8: a holder that connects again meanwhile is not counted as gone", () => {
  expect(seen([0, "nobody"], [300, "nobody"], [1300, "silent"], [1500, "nobody"])).toBe("asks on");
  expect(seen([0, "nobody"], [300, "nobody"], [450, "working"])).toBe("working");
});

test("associate/A8: an asker that connected a moment ago, as all clients of a server that restarts, waits for the lease", () => {
  const up = START - 200;
  const asked = [0, 150, 300, 450, 2700].map((at): [number, "nobody", number] => [at, "nobody", up]);
  expect(seen(...asked)).toBe("asks on");
  expect(seen(...asked, [3000, "nobody", up])).toBe("silent");
});

test("associate/A8: an asker whose own connection breaks, or that may not ask, knows nothing", () => {
  expect(seen([0, "nobody"], [150, "nobody", null])).toBe("unknown");
  expect(seen([1000, "silent"], [3000, "silent", START + 1500])).toBe("unknown");
  expect(seen([0, "unasked"])).toBe("unknown");
});

test("a holder that answers is believed", () => {
  expect(seen([10, "ended"])).toBe("ended");
  expect(seen([10, "working", null])).toBe("working");
});

test("associate/A8: an asker that was stalled knows nothing, unless it has read an answer", () => {
  expect(seen([3000, "silent", LONG_UP, 2000])).toBe("unknown");
  expect(seen([1000, "silent"], [2000, "silent"], [3400, "silent", LONG_UP, 400])).toBe("unknown");
  expect(seen([0, "nobody"], [150, "nobody"], [3000, "nobody", LONG_UP, 1850])).toBe("unknown");
  expect(seen([3000, "working", LONG_UP, 2000])).toBe("working");
});
