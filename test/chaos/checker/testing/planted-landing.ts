/** Wrong landings: I3, I12, and the terminal state of I4. */
import { BASE, commitOf, planned } from "../../../../run/src/testing/record-log.ts";
import { canceled, integrated, plain, retried } from "./healthy-runs.ts";
import { before, type Plant } from "./plant.ts";
import { recordOf } from "./proven.ts";
import { REPO, Scene } from "./scene.ts";

const T1 = "T-001";

/** The clean room passes and the commit lands, both after the cancel. */
function landsAfterCancel(): Scene {
  const scene = new Scene("late").started().called({ kind: "cancel" });
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "ok")
    .canceled()
    .judged(T1, 1, {});
  return scene.lands(T1, 1, 1).closed();
}

export const PLANTED_LANDING: readonly Plant[] = [
  {
    name: "a task lands at two epochs",
    invariant: "I3",
    rule: "landed-twice",
    also: ["I5", "I7"],
    atMost: 2,
    history: () => before(plain(), "closed", (scene) => scene.log.landed(T1, 2, commitOf(1))).history(),
  },
  {
    name: "a landing is in the journal and not in git",
    invariant: "I3",
    rule: "landing-lost",
    atMost: 1,
    history: () => ({ ...plain().history(), commits: [], refs: [] }),
  },
  {
    name: "git holds a task twice",
    invariant: "I3",
    rule: "landed-twice-in-git",
    atMost: 3,
    history: () => plain().committed(T1, 1, 2, commitOf(1)).history(),
  },
  {
    name: "git holds a commit the journal never landed",
    invariant: "I3",
    rule: "landed-untold",
    atMost: 1,
    history: () => canceled().committed(T1, 1, 1).history(),
    also: ["I12"],
  },
  {
    name: "git holds another commit than the one that was told",
    invariant: "I3",
    rule: "landed-another",
    atMost: 2,
    history: () => {
      const scene = plain();
      scene.commits.splice(0);
      return scene.committed(T1, 1, 7).history();
    },
  },
  {
    name: "what landed had no verdict",
    invariant: "I3",
    rule: "landed-unproven",
    also: ["I5"],
    atMost: 1,
    history: () => {
      const scene = plain();
      recordOf(scene, "verdict").body.commit = commitOf(9);
      return scene.resealed().history();
    },
  },
  {
    name: "the run's branch points somewhere else",
    invariant: "I3",
    rule: "ref-astray",
    atMost: 1,
    history: () => {
      const scene = plain();
      scene.refs.splice(0, 1, { repo: REPO, name: scene.branch, commit: "e".repeat(40) });
      return scene.history();
    },
  },
  {
    name: "the target branch got a task twice",
    invariant: "I3",
    rule: "landed-twice-on-target",
    atMost: 2,
    history: () => {
      const scene = integrated();
      scene.committed(T1, 1, 8, BASE, ["refs/heads/main"]);
      scene.refs.splice(0, 1, { repo: REPO, name: scene.branch, commit: commitOf(1) });
      return scene.history();
    },
  },
  {
    name: "a run is closed a second time, as failed",
    invariant: "I4",
    rule: "closed-twice",
    also: ["I5"],
    atMost: 2,
    history: () => {
      const scene = plain();
      const { body } = recordOf(scene, "closed");
      scene.log.add("closed", null, 0, { ...body, status: "failed", code: "ANT_INTERNAL" });
      return scene.history();
    },
  },
  {
    name: "a landing after the end",
    invariant: "I4",
    rule: "landed-after-close",
    also: ["I3", "I5", "I12"],
    atMost: 2,
    history: () => canceled().lands(T1, 1, 1).history(),
  },
  {
    name: "a done task is handed out again",
    invariant: "I4",
    rule: "done-again",
    also: ["I5"],
    atMost: 2,
    history: () => before(retried(), "closed", (scene) => scene.log.dispatched(T1, 3)).history(),
  },
  {
    name: "a landing whose verdict came after the cancel",
    invariant: "I12",
    rule: "landed-after-cancel",
    also: ["I5"],
    atMost: 2,
    history: () => landsAfterCancel().history(),
  },
  {
    name: "git moved after the cancel, and nobody wrote it down",
    invariant: "I12",
    rule: "commit-after-cancel",
    also: ["I3"],
    atMost: 2,
    history: () => canceled().committed(T1, 1, 1).history(),
  },
];
