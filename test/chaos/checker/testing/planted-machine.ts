/** Histories of no legal run (I5), and records of stale epochs (I7). */
import { commitOf, planned } from "../../../../run/src/testing/record-log.ts";
import { chain, lapsed, plain, retried, side, unchecked } from "./healthy-runs.ts";
import { before, without, type Plant } from "./plant.ts";
import { recordOf } from "./proven.ts";
import { REPO, Scene } from "./scene.ts";

const T1 = "T-001";
const T2 = "T-002";

export const PLANTED_MACHINE: readonly Plant[] = [
  {
    name: "a verdict on an attempt that never reported",
    invariant: "I5",
    rule: "no-such-step",
    atMost: 5,
    history: () => without(plain(), ({ type }) => type === "result").history(),
  },
  {
    name: "a report on an attempt that nobody claimed",
    invariant: "I5",
    rule: "no-such-step",
    also: ["I7"],
    atMost: 4,
    history: () => without(plain(), ({ type }) => type === "claim").history(),
  },
  {
    name: "a landing without a verdict",
    invariant: "I5",
    rule: "no-such-step",
    also: ["I3"],
    atMost: 6,
    history: () => without(plain(), ({ type }) => type === "verdict").history(),
  },
  {
    name: "a task goes out before what it depends on",
    invariant: "I5",
    rule: "dependency",
    atMost: 3,
    history: () => {
      const scene = new Scene("eager").started();
      scene.log
        .opened([planned(T1), planned(T2, [T1])])
        .dispatched(T2)
        .canceled();
      scene.closed();
      return { ...scene.history() };
    },
  },
  {
    name: "a task goes out while a person is asked what proves the run",
    invariant: "I5",
    rule: "asked-first",
    atMost: 4,
    history: () => {
      const scene = unchecked();
      const at = scene.records.findIndex(({ type, taskId }) => type === "dispatch" && taskId === T2);
      const [dispatch] = scene.records.splice(at, 1);
      const input = scene.records.findIndex(({ type }) => type === "input");
      if (dispatch !== undefined) scene.records.splice(input, 0, dispatch);
      return scene.resealed().history();
    },
  },
  {
    name: "two tasks of a run are accepted at once",
    invariant: "I5",
    rule: "two-at-once",
    atMost: 10,
    history: () => {
      const scene = side();
      const at = scene.records.findIndex(({ type, taskId }) => type === "landing" && taskId === T1);
      const [landing] = scene.records.splice(at, 1);
      if (landing !== undefined) scene.records.splice(at + 1, 0, landing);
      return scene.resealed().history();
    },
  },
  {
    name: "a task was verified on a head that had moved",
    invariant: "I5",
    rule: "stale-head",
    atMost: 13,
    history: () => {
      const scene = side();
      for (const record of scene.records)
        if (record.type === "verdict" && record.taskId === T2) record.body.head = commitOf(99);
      return scene.resealed().history();
    },
  },
  {
    name: "a run succeeds with a task still open",
    invariant: "I5",
    rule: "false-success",
    atMost: 3,
    history: () => {
      const scene = chain();
      const { body } = recordOf(scene, "closed");
      without(scene, ({ type, taskId }) => taskId === T2 || type === "closed");
      scene.log.add("closed", null, 0, body);
      scene.commits.pop();
      scene.refs.splice(0, 1, { repo: REPO, name: scene.branch, commit: commitOf(1) });
      return scene.history();
    },
  },
  {
    name: "the seal does not fit the records",
    invariant: "I5",
    rule: "seal-broken",
    atMost: 9,
    history: () => {
      const scene = plain();
      recordOf(scene, "claim").digest = recordOf(scene, "intent").digest;
      return scene.history();
    },
  },
  {
    name: "a record names a cause that is not there",
    invariant: "I5",
    rule: "no-cause",
    atMost: 1,
    history: () => {
      const scene = plain();
      const verdict = recordOf(scene, "verdict");
      verdict.cause = { seq: 2, digest: verdict.digest };
      return scene.history();
    },
  },
  {
    name: "an epoch is skipped",
    invariant: "I5",
    rule: "no-such-step",
    atMost: 8,
    history: () => {
      const scene = retried();
      for (const record of scene.records) if (record.epoch === 2) record.epoch = 3;
      for (const commit of scene.commits) commit.trailers = { ...commit.trailers, "Antiphon-Epoch": "3" };
      return scene.resealed().history();
    },
  },
  {
    name: "the closing record says what the records do not",
    invariant: "I5",
    rule: "closing-differs",
    atMost: 9,
    history: () => {
      const scene = plain();
      recordOf(scene, "closed").body.message = "landed somewhere nice";
      return scene.history();
    },
  },
  {
    name: "two processes hold one claim register",
    invariant: "I5",
    rule: "register-twice",
    atMost: 2,
    history: () => before(plain(), "result", (scene) => scene.log.claimed(T1, 1, "as_2")).history(),
  },
  {
    name: "a dead holder's report is taken after the next attempt went out",
    invariant: "I7",
    rule: "stale-record",
    also: ["I5"],
    atMost: 2,
    history: () => {
      const scene = lapsed();
      const at = scene.records.findIndex(({ type }) => type === "result");
      const [lapse] = scene.records.splice(at, 1);
      if (lapse !== undefined) scene.records.splice(at + 1, 0, lapse);
      return scene.resealed().history();
    },
  },
  {
    name: "a claim of an old epoch is taken",
    invariant: "I7",
    rule: "stale-record",
    also: ["I5"],
    atMost: 2,
    history: () => {
      const scene = new Scene("zombie").started();
      scene.log
        .opened([planned(T1)])
        .dispatched(T1)
        .lapsed(T1, 1)
        .dispatched(T1, 2)
        .claimed(T1, 1, "as_old");
      scene.log.canceled();
      return scene.closed().history();
    },
  },
  {
    name: "somebody reports on an attempt that another one holds",
    invariant: "I7",
    rule: "not-the-holder",
    atMost: 2,
    history: () => {
      const scene = plain();
      recordOf(scene, "claim").body.associate = "as_other";
      return scene.history();
    },
  },
  {
    name: "the landed commit is of an older epoch",
    invariant: "I7",
    rule: "stale-commit",
    atMost: 2,
    history: () => {
      const scene = retried();
      for (const commit of scene.commits) commit.trailers = { ...commit.trailers, "Antiphon-Epoch": "1" };
      return scene.history();
    },
  },
];
