/** I3: a done task has landed exactly once, and nothing else ever lands. */
import type { StoredRecord } from "@antiphon/contracts";
import { acceptedAt } from "./approved.ts";
import type { GitCommit, History } from "./history.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

type Landing = Extract<StoredRecord, { type: "landing" }>;
type Landed = Landing & { body: { kind: "landed" } };

export const I3: Invariant = {
  id: "I3",
  title: "each done task landed exactly once, no other ever",
  ofRun(run: RunFacts, history: History) {
    const landings = run.records.filter((record): record is Landing => record.type === "landing");
    const landed = landings.filter((record): record is Landed => record.body.kind === "landed");
    const ofTasks = landed.filter((record) => record.taskId !== null);
    return [
      ...oncePerTask(run, ofTasks),
      ...verdictFirst(run, ofTasks),
      ...approvedFirst(run, ofTasks),
      ...(history.witnessed.git ? [...inGitOnce(run, ofTasks), ...nothingElse(run, landed)] : []),
    ];
  },
};

function oncePerTask(run: RunFacts, landings: readonly Landed[]): Violation[] {
  const first = new Map<string | null, Landed>();
  return landings.flatMap((record) => {
    const earlier = first.get(record.taskId);
    if (earlier === undefined) first.set(record.taskId, record);
    if (earlier === undefined) return [];
    return [at(run, "landed-twice", [earlier.seq, record.seq], `${record.taskId} landed twice`)];
  });
}

/** The landed commit is the one the clean room passed, of the same attempt. */
function verdictFirst(run: RunFacts, landings: readonly Landed[]): Violation[] {
  return landings.flatMap((record) => {
    const passed = run.records.some(
      (other) =>
        other.type === "verdict" &&
        other.seq < record.seq &&
        other.taskId === record.taskId &&
        other.body.verdict === "PASS" &&
        other.body.commit === record.body.commit,
    );
    if (passed) return [];
    const what = `${record.taskId} landed ${record.body.commit}, which no verdict passed`;
    return [at(run, "landed-unproven", [record.seq], what)];
  });
}

/** A change that needs approvals landed after them; a rejected change never lands. */
function approvedFirst(run: RunFacts, landings: readonly Landed[]): Violation[] {
  return landings.flatMap((record) => {
    const hasPassed = run.records.some(
      ({ type, taskId, epoch }) => type === "verdict" && taskId === record.taskId && epoch === record.epoch,
    );
    const accepted = acceptedAt(run.records, record.taskId, record.epoch);
    if (!hasPassed || (accepted !== null && accepted < record.seq)) return [];
    const what = `${record.taskId} landed ${record.body.commit}, which nobody let land`;
    return [at(run, "landed-unapproved", [record.seq], what)];
  });
}

/** Compares the journal with git: the run's branch has exactly one commit of the task, the recorded one. */
function inGitOnce(run: RunFacts, landings: readonly Landed[]): Violation[] {
  const branch = `refs/heads/antiphon/${run.runId}`;
  return landings.flatMap((record) => {
    const there = commitsOf(run, record.taskId).filter((commit) => commit.refs.includes(branch));
    const { commit } = record.body;
    if (there.length === 0) {
      return [
        at(run, "landing-lost", [record.seq], `${record.taskId} landed ${commit}, which is not on ${branch}`),
      ];
    }
    if (there.length === 1 && there[0]?.id === commit) return [];
    const ids = there.map(({ id }) => id).join(", ");
    const rule = there.length > 1 ? "landed-twice-in-git" : "landed-another";
    return [at(run, rule, [record.seq], `${record.taskId} landed ${commit}, and ${branch} holds ${ids}`)];
  });
}

function nothingElse(run: RunFacts, landed: readonly Landed[]): Violation[] {
  const strangers = run.commits.flatMap((commit) => {
    const task = commit.trailers["Antiphon-Task"] ?? "?";
    const isTold = landed.some((record) => record.taskId === task);
    if (isTold || commit.refs.length === 0) return [];
    const what = `${commit.refs.join(", ")} holds ${commit.id} of ${task}, which the journal never landed`;
    return [violation("I3", run.runId, { rule: "landed-untold", what })];
  });
  const twice = doubledOnOneRef(run);
  const empty = run.refs.flatMap((ref) => {
    if (run.commits.some((commit) => commit.id === ref.commit)) return [];
    return [violation("I3", run.runId, { rule: "ref-astray", what: `${ref.name} points to ${ref.commit}` })];
  });
  return [...strangers, ...twice, ...empty];
}

/** A replay on a target branch is a new commit of the same task; there is at most one on a branch. */
function doubledOnOneRef(run: RunFacts): Violation[] {
  const seen = new Map<string, string>();
  return run.commits.flatMap((commit) =>
    commit.refs.flatMap((ref) => {
      if (ref === `refs/heads/antiphon/${run.runId}`) return []; // inGitOnce checks that branch.
      const key = `${ref} ${commit.trailers["Antiphon-Task"]}`;
      const other = seen.get(key);
      seen.set(key, commit.id);
      if (other === undefined) return [];
      const what = `${ref} holds ${other} and ${commit.id} of the same task`;
      return [violation("I3", run.runId, { rule: "landed-twice-on-target", what })];
    }),
  );
}

function commitsOf(run: RunFacts, taskId: string | null): GitCommit[] {
  return run.commits.filter((commit) => commit.trailers["Antiphon-Task"] === taskId);
}

function at(run: RunFacts, rule: string, seqs: number[], what: string): Violation {
  return violation("I3", run.runId, { rule, seqs, what });
}
