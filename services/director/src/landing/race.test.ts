import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { expect, test } from "vitest";
import { takeRace } from "./race.ts";

const RACE = { name: "race_1", repo: { name: "r", path: "/r" } };

test("a race whose branch is removed between the try to make it and the look at it is undecided, not lost", async () => {
  const refused = { kind: "refused", code: "ANT_LANDING_HEAD_MOVED", message: "moved" } as const;
  const repository = {
    land: () => Promise.resolve(refused),
    tip: () => Promise.resolve(null),
    runsOf: () => Promise.resolve([]),
  };
  const taken = takeRace(RACE, "c".repeat(40), { repository, journal: new MemoryJournal() });
  await expect(taken).rejects.toMatchObject({ code: "ANT_RACE_UNDECIDED" });
});
