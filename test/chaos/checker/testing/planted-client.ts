/** Violations that clients see: I1, I2, the answers of I4, I11, the cancel of I12. */
import { contained, proven, recordOf } from "./proven.ts";
import { canceled, failed, plain } from "./healthy-runs.ts";
import { without, type Plant } from "./plant.ts";
import { Scene, START_MS, together } from "./scene.ts";

const isClosed = ({ type }: { type: string }): boolean => type === "closed";

function open(): Scene {
  const scene = without(plain(), isClosed);
  scene.calls.pop(); // No client was told the end.
  return scene;
}

export const PLANTED_CLIENT: readonly Plant[] = [
  {
    name: "an accepted run stays open",
    invariant: "I1",
    rule: "no-end",
    atMost: 3,
    history: () => open().history(),
  },
  {
    name: "the watch ends before an open run could",
    invariant: "I1",
    rule: "no-end",
    atMost: 3,
    history: () => ({ ...open().history(), endedMs: START_MS + 10_000 }),
  },
  {
    name: "a run ends long after heal",
    invariant: "I1",
    rule: "late-end",
    atMost: 3,
    history: () => {
      const scene = plain();
      recordOf(scene, "closed").at = new Date(START_MS + 200_000);
      return scene.history();
    },
  },
  {
    name: "one key starts two runs",
    invariant: "I2",
    rule: "key-with-two-runs",
    atMost: 2,
    history: () => {
      const [one, two] = [plain("one"), plain("two")];
      for (const scene of [one, two])
        for (const call of scene.calls) if (call.kind === "start") call.key = "same";
      return together([one, two]);
    },
  },
  {
    name: "two keys are answered with one run",
    invariant: "I2",
    rule: "run-with-two-keys",
    atMost: 2,
    history: () => plain().started("another key").history(),
  },
  {
    name: "a run nobody asked for",
    invariant: "I2",
    rule: "phantom",
    atMost: 1,
    history: () => {
      const ghost = plain("ghost");
      ghost.calls.splice(0);
      recordOf(ghost, "intent").body.intentId = "it_ghost";
      return together([plain(), ghost]);
    },
  },
  {
    name: "one request without an answer starts two runs",
    invariant: "I2",
    rule: "phantom",
    atMost: 3,
    history: () => {
      const [one, two] = [plain("one"), plain("two")];
      one.calls.splice(0);
      two.calls.splice(0);
      one.called({ kind: "start", key: "k", intentId: "it_0", runId: null, status: null, answeredMs: null });
      return together([one, two]);
    },
  },
  {
    name: "records of a run that has no intent",
    invariant: "I2",
    rule: "phantom",
    also: ["I5", "I11", "I3"],
    atMost: 1,
    history: () => {
      const scene = new Scene("headless");
      scene.log.dispatched("T-001");
      return scene.history();
    },
  },
  {
    name: "a client is told success, then failure",
    invariant: "I4",
    rule: "answer-changed",
    atMost: 2,
    history: () => plain().called({ kind: "get", runStatus: "failed" }).history(),
  },
  {
    name: "a client is told success of a run that failed",
    invariant: "I4",
    rule: "answer-untrue",
    atMost: 2,
    history: () => {
      const scene = failed();
      for (const call of scene.calls) if (call.kind === "get") call.runStatus = "succeeded";
      return scene.history();
    },
  },
  {
    name: "an accepted run is dropped",
    invariant: "I11",
    rule: "accepted-then-dropped",
    atMost: 1,
    history: () => together([plain(), new Scene("dropped").started()]),
  },
  {
    name: "a director outgrows its memory",
    invariant: "I11",
    rule: "beyond-bound",
    atMost: 1,
    history: () => {
      const scene = plain();
      const sample = { what: "director memory", bound: 512, unit: "MiB" };
      for (const value of [100, 300, 700]) scene.bounds.push({ ...sample, atMs: START_MS + value, value });
      return scene.history();
    },
  },
  {
    name: "a cancel is accepted and forgotten",
    invariant: "I12",
    rule: "cancel-lost",
    atMost: 1,
    history: () => {
      const scene = without(canceled(), ({ type }) => type === "cancel" || type === "closed");
      scene.calls.pop();
      return scene.history();
    },
    also: ["I1"],
  },
  {
    name: "one attempt runs in two containers at once",
    invariant: "I8",
    rule: "two-alive",
    atMost: 3,
    history: () => {
      const scene = proven();
      contained(scene, "c9", 30, 70, { runId: scene.runId, taskId: "T-001", epoch: 1, purpose: "attempt" });
      return scene.history({ engine: true, evidence: true });
    },
  },
  {
    name: "a container is left behind",
    invariant: "I8",
    rule: "left-behind",
    atMost: 1,
    history: () => {
      const scene = proven();
      scene.containers.pop();
      return scene.history({ engine: true });
    },
  },
];
