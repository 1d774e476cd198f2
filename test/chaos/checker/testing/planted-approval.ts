/** Changes that land without the necessary approvals (I3, I12), and approvals that must not be stored (I5). */
import { planned } from "../../../../run/src/testing/record-log.ts";
import { approved, awaiting, rejected } from "./healthy-runs.ts";
import { before, without, type Plant } from "./plant.ts";
import { Scene } from "./scene.ts";

const T1 = "T-001";

/** Lands after any decision about it. */
function landsAfter(name: string, decide: (scene: Scene) => unknown): Scene {
  const scene = awaiting(name);
  decide(scene);
  return scene.lands(T1, 1, 1).closed();
}

/** Requested by ann, who needs one other person; her own approval does not count. */
function landsOnOwnWord(): Scene {
  const scene = new Scene("own").started();
  scene.log.opened([planned(T1)], { approvals: { needed: 1 } }, "BUILD", "ann");
  scene.log.dispatched(T1).claimed(T1).reported(T1, 1, "ok").judged(T1, 1, {});
  return scene.decided("approve", "ann", 1).lands(T1, 1, 1).closed();
}

export const PLANTED_APPROVAL: readonly Plant[] = [
  {
    name: "a change lands that nobody approved",
    invariant: "I3",
    rule: "landed-unapproved",
    also: ["I5"],
    atMost: 3,
    history: () => landsAfter("unasked", () => undefined).history(),
  },
  {
    name: "a change lands on one of two approvals",
    invariant: "I3",
    rule: "landed-unapproved",
    also: ["I5"],
    atMost: 3,
    history: () => landsAfter("half", (scene) => scene.decided("approve", "ben", 1)).history(),
  },
  {
    name: "a change lands on two approvals of one person",
    invariant: "I3",
    rule: "landed-unapproved",
    also: ["I5"],
    atMost: 3,
    history: () =>
      landsAfter("twice", (scene) =>
        scene.decided("approve", "ben", 1).decided("approve", "ben", 2),
      ).history(),
  },
  {
    name: "a change lands on the word of who asked for it",
    invariant: "I3",
    rule: "landed-unapproved",
    also: ["I5"],
    atMost: 3,
    history: () => landsOnOwnWord().history(),
  },
  {
    name: "a change lands that was rejected",
    invariant: "I3",
    rule: "landed-unapproved",
    also: ["I4", "I5"],
    atMost: 3,
    history: () => before(rejected(), "closed", (scene) => scene.lands(T1, 1, 1)).history(),
  },
  {
    name: "a change lands whose last approval came after the cancel",
    invariant: "I12",
    rule: "landed-after-cancel",
    also: ["I5"],
    atMost: 6,
    history: () =>
      landsAfter("late", (scene) => {
        scene.called({ kind: "cancel" }).decided("approve", "ben", 1).log.canceled();
        scene.decided("approve", "cleo", 2);
      }).history(),
  },
  {
    name: "an approval of the attempt before is stored",
    invariant: "I5",
    rule: "no-such-step",
    atMost: 9,
    history: () => {
      const scene = approved("stale");
      const old = scene.records.find(({ type }) => type === "verdict")?.digest ?? "";
      for (const { type, epoch, body } of scene.records)
        if (type === "approval" && epoch === 2) Object.assign(body, { verdict: old });
      return scene.resealed().history();
    },
    also: ["I3"],
  },
  {
    name: "a number of an approval is left out",
    invariant: "I5",
    rule: "approval-number",
    atMost: 3,
    also: ["I3"],
    history: () =>
      without(rejected("gap"), ({ type, epoch }) => type === "approval" && epoch === 1).history(),
  },
];
