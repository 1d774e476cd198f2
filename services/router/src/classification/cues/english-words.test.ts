import { expect, test } from "vitest";
import { CueList } from "../cue-list.ts";
import { BUILD_CUES } from "./build-cues.ts";
import type { CueGroup } from "./cue-group.ts";
import { DEBUG_CUES } from "./debug-cues.ts";
import { PLAN_CUES } from "./plan-cues.ts";
import { REVIEW_CUES } from "./review-cues.ts";
import { SCOPE_CUES } from "./scope-cues.ts";

/** Everyday English words that are spelled like a word, or the stem of a word, of another language. */
const TAKEN_FOR_ANOTHER: readonly (readonly [string, readonly CueGroup[], string])[] = [
  ["Polish termin (a date)", PLAN_CUES, "terminal terminals terminate terminated terminology"],
  ["French comment (how)", PLAN_CUES, "comment comments"],
  ["Turkish süre (a duration)", PLAN_CUES, "sure"],
  ["German Option, Czech alternativa", PLAN_CUES, "option alternative alternatively"],
  ["French charge (work), lot, scénario", PLAN_CUES, "charge charges lots scenario decouple comparator"],
  ["Dutch taken (tasks), German plane", PLAN_CUES, "taken plane"],
  ["Turkish önce (before)", SCOPE_CUES, "once"],
  ["Portuguese some (it vanishes), pane", DEBUG_CUES, "some pane"],
  ["Dutch storing (a fault), Italian strano", DEBUG_CUES, "storing stranded double"],
  ["Czech příčina (a cause), Portuguese resolver", DEBUG_CUES, "pricing resolver"],
  ["Spanish revisión, Polish ocena", REVIEW_CUES, "revision revisions verification verified ocean slab"],
  ["Spanish generar, Portuguese mover", BUILD_CUES, "general integrity including movie removal"],
  ["French exporter, Italian serve", BUILD_CUES, "exporter installer splits serve super"],
];

test.each(TAKEN_FOR_ANOTHER)("English words are not read as %s", (_, groups, words) => {
  const hits = words.split(" ").filter((word) => new CueList(groups).find(` ${word} `).length > 0);
  expect(hits).toEqual([]);
});
