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
    ["past its deadline, with a living owner", suspect("living", {}, NOW - 1), "deadline"],
    ["past its deadline, but held", suspect("me", { id: "held" }, NOW - 1), "deadline"],
    ["of an owner that is gone", suspect("dead"), "owner-gone"],
    ["of a living owner", suspect("living"), null],
    ["of an owner that cannot be checked", suspect("elsewhere"), null],
    ["our own and held", suspect("me", { id: "held" }), null],
    ["our own, not held, still starting", suspect("me", { createdMs: NOW - 1000 }), null],
    ["our own, not held, and old", suspect("me"), "not-held"],
    [
      "our own, not held, and a minute old before the next sweep",
      suspect("me", { createdMs: NOW - 29_000 }),
      "not-held",
    ],
    [
      "never started, of an owner that cannot be checked",
      suspect("elsewhere", { isRunning: false }),
      "not-running",
    ],
    ["just created", suspect("elsewhere", { isRunning: false, createdMs: NOW - 1000 }), null],
    ["created and held", suspect("me", { id: "held", isRunning: false }), null],
    ["without labels, young", suspect("x", { labels: {} }), null],
    ["without labels, old", suspect("x", { labels: {}, createdMs: NOW - 4_000_000 }), "no-labels"],
  ])("sandbox-runner/S4: decides about a container %s", (_title, one, reason) => {
    expect(reapReason(one, facts)).toBe(reason);
  });

  it("a reaper that holds nothing judges every container by its owner", () => {
    expect(reapReason(suspect("dead"), { ...facts, self: null })).toBe("owner-gone");
    expect(reapReason(suspect("living"), { ...facts, self: null })).toBe(null);
  });
});
