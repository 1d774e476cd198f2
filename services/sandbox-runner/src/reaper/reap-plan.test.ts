import { describe, expect, it } from "vitest";
import { LABELS, reapReason, type ReapFacts, type Suspect } from "./reap-plan.ts";

const NOW = 10_000_000;
const facts: ReapFacts = {
  nowMs: NOW,
  self: { owner: "me", held: new Set(["held"]) },
  ownerState: (owner) => (owner === "living" ? "alive" : owner === "dead" ? "gone" : "unknown"),
};

function suspect(owner: string, changes: Partial<Suspect> = {}, deadline = NOW + 1000): Suspect {
  const labels = { [LABELS.owner]: owner, [LABELS.deadline]: String(deadline) };
  return { id: "one", createdMs: NOW - 120_000, isRunning: true, labels, ...changes };
}

describe("the reaper's plan", () => {
  it.each([
    ["R1: past its deadline, though its owner lives", suspect("living", {}, NOW - 1), "deadline"],
    ["R1: past its deadline, though it is held", suspect("me", { id: "held" }, NOW - 1), "deadline"],
    ["R2: of an owner that is gone", suspect("dead"), "owner-gone"],
    ["R3: of a living owner", suspect("living"), null],
    ["R3: of an owner that cannot be asked", suspect("elsewhere"), null],
    ["R3: our own and held", suspect("me", { id: "held" }), null],
    ["R3: our own, not held, still starting", suspect("me", { createdMs: NOW - 1000 }), null],
    ["R3: our own, not held, and old", suspect("me"), "not-held"],
    [
      "R3: our own, not held, so old that a minute is over at the next sweep",
      suspect("me", { createdMs: NOW - 29_000 }),
      "not-held",
    ],
    [
      "R7: never started, of an owner that cannot be asked",
      suspect("elsewhere", { isRunning: false }),
      "not-running",
    ],
    ["R7: just created", suspect("elsewhere", { isRunning: false, createdMs: NOW - 1000 }), null],
    ["R7: created and held", suspect("me", { id: "held", isRunning: false }), null],
    ["R4: without labels, young", suspect("x", { labels: {} }), null],
    ["R4: without labels, old", suspect("x", { labels: {}, createdMs: NOW - 4_000_000 }), "no-labels"],
  ])("%s", (_title, one, reason) => {
    expect(reapReason(one, facts)).toBe(reason);
  });

  it("R2: a reaper that holds nothing judges its own kind like any other", () => {
    expect(reapReason(suspect("dead"), { ...facts, self: null })).toBe("owner-gone");
    expect(reapReason(suspect("living"), { ...facts, self: null })).toBe(null);
  });
});
