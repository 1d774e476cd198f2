/** Legal runs, successful or failed: every path through the machine that violates no invariant. */
import { BASE, commitOf, planned } from "../../../../run/src/testing/record-log.ts";
import { Scene, START_MS } from "./scene.ts";

const T1 = "T-001";
const T2 = "T-002";

/** One task, landed at the first attempt. */
export function plain(name = "plain"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "ok")
    .judged(T1, 1, {});
  return scene.lands(T1, 1, 1).closed();
}

/** Two tasks, the second on top of the first. */
export function chain(name = "chain"): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1), planned(T2, [T1])]);
  scene.log.dispatched(T1).claimed(T1).reported(T1, 1, "ok").judged(T1, 1, {});
  scene.lands(T1, 1, 1);
  scene.log.dispatched(T2).claimed(T2).reported(T2, 1, "ok");
  scene.log.judged(T2, 1, { head: commitOf(1), commit: commitOf(2) });
  return scene.lands(T2, 1, 2, commitOf(1)).closed();
}

/** Rejected once by the clean room, then right. */
export function retried(name = "retried"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "ok");
  scene.log.judged(T1, 1, { verdict: "FAIL", code: "ANT_VERIFY_CHECK_FAILED", commit: null });
  scene.log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {});
  return scene.lands(T1, 2, 1).closed();
}

/** The first holder died, and its lease expiry was recorded. */
export function lapsed(name = "lapsed"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1, 1, "as_dead")
    .lapsed(T1, 1);
  scene.log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {});
  return scene.lands(T1, 2, 1).closed();
}

/** More attempts without a sandbox than losses are allowed; the next one gets a sandbox. */
export function withoutSandbox(name = "withoutsandbox"): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1)]);
  for (let epoch = 1; epoch <= 7; epoch += 1) {
    scene.log.dispatched(T1, epoch).claimed(T1, epoch).withoutSandbox(T1, epoch);
    scene.log.add("due", T1, epoch, { kind: "rest" });
  }
  harmed(scene, "engine", "sandbox-runner", 60_000);
  scene.log.dispatched(T1, 8).claimed(T1, 8).reported(T1, 8, "ok").judged(T1, 8, {});
  return scene.lands(T1, 8, 1).closed();
}

/** A question, its answer, and the work. */
export function asked(name = "asked"): Scene {
  const scene = new Scene(name).started().called({ kind: "answer" });
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "needs_input");
  scene.log.add("input", T1, 1, { event: "answer", answers: ["this one"], by: "local" });
  scene.log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {});
  return scene.lands(T1, 2, 1).closed();
}

/** The run lacks a check: a person is asked before any attempt, and the answer leads to the first one. */
export function unchecked(name = "unchecked"): Scene {
  const scene = new Scene(name).started().called({ kind: "answer" });
  const asks = [{ question: "Which command proves the change?", tasks: [T1] }];
  const none = { commit: null, tree: null, checks: [], evidence: null };
  const question = { verdict: "UNVERIFIABLE" as const, code: "ANT_VERIFY_NO_CHECK", ...none, asks };
  scene.log.opened([planned(T1), planned(T2)]).judged(T1, 1, question);
  scene.log.add("input", T1, 1, { event: "answer", answers: ["npm test"], by: "local", instructs: true });
  scene.log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {});
  scene.lands(T1, 2, 1);
  scene.log.dispatched(T2).claimed(T2).reported(T2, 1, "ok");
  scene.log.judged(T2, 1, { head: commitOf(1), commit: commitOf(2) });
  return scene.lands(T2, 1, 2, commitOf(1)).closed();
}

/** A question nobody has answered yet. */
export function waiting(name = "waiting"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "needs_input");
  return scene;
}

/** A question that was rejected: the run ends, and nothing lands. */
export function turnedDown(name = "turneddown"): Scene {
  const scene = new Scene(name).started().called({ kind: "answer" });
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .reported(T1, 1, "needs_input");
  scene.log.add("input", T1, 1, { event: "approval", choice: "reject", answers: [], by: "local" });
  return scene.closed();
}

/** A verified change that waits for the approvals of two people. */
export function awaiting(name = "awaiting"): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1)], { approvals: { needed: 2 } }, "BUILD", "ann");
  scene.log.dispatched(T1).claimed(T1).reported(T1, 1, "ok").judged(T1, 1, {});
  return scene;
}

/** Sent back once, then approved by two others, then landed. */
export function approved(name = "approved"): Scene {
  const scene = awaiting(name).called({ kind: "answer" });
  scene.decided("changes", "ben", 1);
  scene.log.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {});
  scene.decided("approve", "ben", 2).decided("approve", "cleo", 3);
  return scene.lands(T1, 2, 1).closed();
}

/** Approved once, then rejected. */
export function rejected(name = "rejected"): Scene {
  const scene = awaiting(name).called({ kind: "answer" });
  return scene.decided("approve", "ben", 1).decided("reject", "cleo", 2).closed();
}

/** Canceled before a decision; the approval came too late. */
export function canceledUndecided(name = "undecided"): Scene {
  const scene = awaiting(name).called({ kind: "cancel" });
  scene.log.canceled();
  return scene.decided("approve", "ben", 1).closed();
}

/** Canceled during the work; the holder's report came too late. */
export function canceled(name = "canceled"): Scene {
  const scene = new Scene(name).started().called({ kind: "cancel" });
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .claimed(T1)
    .canceled();
  scene.closed();
  scene.log.reported(T1, 1, "ok");
  return scene;
}

/** Accepted, then canceled: the accepted change still lands. */
export function canceledAfterVerdict(name = "accepted"): Scene {
  const scene = new Scene(name).started().called({ kind: "cancel" });
  scene.log.opened([planned(T1), planned(T2, [T1])]);
  scene.log.dispatched(T1).claimed(T1).reported(T1, 1, "ok").judged(T1, 1, {}).canceled();
  return scene.lands(T1, 1, 1).closed();
}

/** Fails three times and says so. */
export function failed(name = "failed"): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1)]);
  for (const epoch of [1, 2, 3]) {
    scene.log.dispatched(T1, epoch).claimed(T1, epoch);
    scene.log.reported(T1, epoch, "failed", "ANT_VERIFY_SELF_FAILED");
  }
  return scene.closed();
}

/** A task that kills its Associates; given up after six lost attempts. */
export function poisonous(name = "poisonous"): Scene {
  const scene = givenUp(name);
  scene.isPoisonous = true;
  return scene;
}

/** Each of its six attempts met a fault: a Director cannot tell that from poison. */
export function unlucky(name = "unlucky"): Scene {
  const scene = givenUp(name);
  for (const kind of ["kill", "points", "kill"]) harmed(scene, kind, "associate", 0);
  harmed(scene, "stop", "sandbox-runner", 12_000); // Longer than a lease, so it costs two attempts.
  harmed(scene, "power", null, 500);
  return scene;
}

export function harmed(scene: Scene, kind: string, role: string | null, forMs: number): void {
  scene.faults.push({ kind, role, fromMs: START_MS, untilMs: START_MS + forMs });
}

/** Six attempts are lost, one after the other. */
export function givenUp(name: string): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1)]);
  for (let epoch = 1; epoch <= 6; epoch += 1) {
    scene.log.dispatched(T1, epoch).claimed(T1, epoch).lapsed(T1, epoch);
    if (epoch >= 2 && epoch < 6) scene.log.add("due", T1, epoch, { kind: "rest" });
  }
  return scene.closed();
}

/** A cancel slips in between the closing Director's read and its write: the seal covers what it had read. */
export function sealedBeforeCancel(name = "sealed"): Scene {
  const scene = plain(name);
  const closed = scene.records.pop();
  scene.log.canceled();
  if (closed === undefined) throw new Error("a plain run is closed");
  scene.records.push({ ...closed, seq: scene.records.length + 1 });
  return scene.called({ kind: "cancel" });
}

/** Two independent tasks; both start from the base, the second is verified on what the first landed. */
export function side(name = "side"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1), planned(T2)])
    .dispatched(T1)
    .dispatched(T2)
    .claimed(T1)
    .claimed(T2);
  scene.log.reported(T1, 1, "ok").reported(T2, 1, "ok").judged(T1, 1, {});
  scene.lands(T1, 1, 1);
  scene.log.judged(T2, 1, { head: commitOf(1), commit: commitOf(2) });
  return scene.lands(T2, 1, 2, commitOf(1)).closed();
}

/** Also landed on the branch that the caller named. */
export function integrated(name = "integrated"): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1)], { land_on: "main" });
  scene.log.dispatched(T1).claimed(T1).reported(T1, 1, "ok").judged(T1, 1, {});
  scene.lands(T1, 1, 1);
  scene.log.judged(null, 1, { commit: commitOf(1), head: BASE });
  scene.log.landed(null, 1, commitOf(1), "refs/heads/main");
  const landed = scene.commits[0];
  if (landed !== undefined) landed.refs = [scene.branch, "refs/heads/main"];
  return scene.closed();
}

/** Paused and resumed during its work. */
export function held(name = "held"): Scene {
  const scene = new Scene(name).started();
  scene.log
    .opened([planned(T1)])
    .dispatched(T1)
    .add("control", null, 1, { kind: "pause", by: "local" });
  scene.log.claimed(T1).reported(T1, 1, "ok").add("control", null, 2, { kind: "resume", by: "local" });
  scene.log.judged(T1, 1, {});
  return scene.lands(T1, 1, 1).closed();
}

/** Paused, and not resumed yet. */
export function paused(name = "paused"): Scene {
  const scene = new Scene(name).started();
  scene.log.opened([planned(T1)]).add("control", null, 1, { kind: "pause", by: "local" });
  return scene;
}

export const HEALTHY: Readonly<Record<string, () => Scene>> = {
  plain,
  chain,
  retried,
  lapsed,
  "without a sandbox": withoutSandbox,
  asked,
  waiting,
  unchecked,
  "turned down": turnedDown,
  awaiting,
  approved,
  rejected,
  "canceled undecided": canceledUndecided,
  canceled,
  "canceled after the verdict": canceledAfterVerdict,
  failed,
  poisonous,
  unlucky,
  "sealed before a cancel": sealedBeforeCancel,
  "side by side": side,
  "landed on a target": integrated,
  "held and let go": held,
  paused,
};
