import { expect, test } from "vitest";
import type { TreeArchive } from "../workspace/tree-archive.ts";
import { Preloader } from "./preloader.ts";

const AGENT = { tree: null, environment: "agent" };
const none = { tree: "tree", repository: null, layers: null };
const attempt = { tree: "tree", repository: "history", layers: AGENT };

function setUp() {
  const clock = { now: 0 };
  // Nothing is put in here, so no tree is opened.
  const preloader = new Preloader({} as TreeArchive, () => clock.now);
  return { preloader, clock };
}

test("the layers of the last two kinds of jobs are wanted, the latest first", () => {
  const { preloader } = setUp();
  expect(preloader.layers).toEqual([null]);
  preloader.wanted(none);
  preloader.wanted(attempt);
  expect(preloader.layers).toEqual([AGENT, null]);
  preloader.wanted(none);
  expect(preloader.layers).toEqual([null, AGENT]);
  preloader.wanted({ ...attempt, layers: { tree: null, environment: "other" } });
  expect(preloader.layers).toEqual([{ tree: null, environment: "other" }, null]);
});

test("a kind that nobody asked for in ten minutes is wanted no more, unless it was the last", () => {
  const { preloader, clock } = setUp();
  preloader.wanted(attempt);
  clock.now = 9 * 60_000;
  preloader.wanted(none);
  clock.now = 11 * 60_000;
  expect(preloader.layers).toEqual([null]);
  clock.now = 60 * 60_000;
  expect(preloader.layers).toEqual([null]);
});

test("layers over which no sandbox starts are forgotten", () => {
  const { preloader } = setUp();
  preloader.wanted(attempt);
  preloader.forgetLayers();
  expect(preloader.layers).toEqual([null]);
});
