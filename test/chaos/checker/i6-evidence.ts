/** I6: a done task has its evidence, complete and unchanged, and its diff on its base gives the landed tree. */
import type { EvidenceRef, StoredRecord } from "@antiphon/contracts";
import type { GitCommit, History, StoredBlob } from "./history.ts";
import { violation, type Invariant, type RunFacts, type Violation } from "./invariant.ts";

type Result = Extract<StoredRecord, { type: "result" }>;
type Reported = Result & { body: { kind: "reported" } };
type Judged = Extract<StoredRecord, { type: "verdict" }>;

export const I6: Invariant = {
  id: "I6",
  title: "done => its evidence verifies and its diff on its base gives the landed tree",
  ofRun(run: RunFacts, history: History) {
    if (!history.witnessed.evidence) return [];
    return run.records.flatMap((verdict) => {
      if (verdict.type !== "verdict" || verdict.taskId === null || verdict.body.verdict !== "PASS") return [];
      const landing = landingOf(run, verdict);
      if (verdict.body.commit !== null && landing === undefined) return []; // Accepted, and not done.
      const report = reportOf(run, verdict);
      if (report === undefined)
        return [at(run, "no-report", [verdict.seq], `${verdict.taskId} passed unreported`)];
      return [
        ...evidenceHolds(run, history, report, report.body.evidence),
        ...(verdict.body.evidence === null
          ? []
          : evidenceHolds(run, history, verdict, verdict.body.evidence)),
        ...(verdict.body.commit === null ? [] : diffGivesTree(run, history, report, verdict)),
      ];
    });
  },
};

function landingOf(run: RunFacts, verdict: Judged): StoredRecord | undefined {
  return run.records.find(
    (record) =>
      record.type === "landing" &&
      record.taskId === verdict.taskId &&
      record.epoch === verdict.epoch &&
      record.body.kind === "landed",
  );
}

function reportOf(run: RunFacts, verdict: Judged): Reported | undefined {
  return run.records.find(
    (record): record is Reported =>
      record.type === "result" &&
      record.taskId === verdict.taskId &&
      record.epoch === verdict.epoch &&
      record.body.kind === "reported",
  );
}

/** The manifest is the one the record names, and every file it names is there, byte for byte. */
function evidenceHolds(run: RunFacts, history: History, by: StoredRecord, ref: EvidenceRef): Violation[] {
  const where = `the evidence ${ref.key} of the ${by.type} of ${by.taskId}`;
  const manifest = history.manifests.find(({ key }) => key === ref.key);
  if (manifest === undefined) return [at(run, "evidence-lost", [by.seq], `${where} is not there`)];
  if (manifest.digest !== ref.digest)
    return [at(run, "evidence-changed", [by.seq], `${where} is another one`)];
  return manifest.files.flatMap(({ path, blob }) => {
    if (isIntact(history, blob)) return [];
    return [at(run, "file-broken", [by.seq], `${path} in ${where} is lost or changed`)];
  });
}

function diffGivesTree(run: RunFacts, history: History, report: Reported, verdict: Judged): Violation[] {
  const { patch, evidence } = report.body;
  const commit = run.commits.find(({ id }) => id === verdict.body.commit);
  if (patch === null) return [at(run, "no-diff", [report.seq], `${verdict.taskId} landed without a diff`)];
  if (!isIntact(history, patch)) {
    return [at(run, "diff-broken", [report.seq], `the diff of ${verdict.taskId} is lost or changed`)];
  }
  if (commit === undefined) return []; // I3 judges this.
  const seqs = [report.seq, verdict.seq];
  const found: Violation[] = [];
  const again = history.patched.find(
    ({ on, patch: digest }) => on === verdict.body.head && digest === patch.digest,
  );
  if (again === undefined || again.tree !== commit.tree) {
    const tree = again?.tree ?? "nothing";
    found.push(
      at(run, "other-tree", seqs, `the diff of ${verdict.taskId} gives ${tree}, landed is ${commit.tree}`),
    );
  }
  if (verdict.body.tree !== commit.tree) {
    const what = `${verdict.taskId} was verified as tree ${verdict.body.tree}, landed is ${commit.tree}`;
    found.push(at(run, "unverified-tree", seqs, what));
  }
  if (commit.trailers["Antiphon-Evidence"] !== evidence.digest || !isOnHead(commit, verdict)) {
    found.push(
      at(run, "commit-unproven", seqs, `${commit.id} does not name its evidence or stand on its head`),
    );
  }
  return found;
}

function isOnHead(commit: GitCommit, verdict: Judged): boolean {
  return commit.parents.length === 1 && commit.parents[0] === verdict.body.head;
}

function isIntact(history: History, ref: StoredBlob): boolean {
  return history.blobs.some(
    (blob) =>
      blob.bucket === ref.bucket &&
      blob.name === ref.name &&
      blob.digest === ref.digest &&
      blob.bytes === ref.bytes,
  );
}

function at(run: RunFacts, rule: string, seqs: number[], what: string): Violation {
  return violation("I6", run.runId, { rule, seqs, what });
}
