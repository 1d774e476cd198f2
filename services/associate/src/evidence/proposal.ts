/**
 * The end of an attempt: what happened becomes a diff, an evidence bundle and a report.
 *
 * Invariants:
 *   A10 The evidence is stored before the report that refers to it.
 *   S5  The diff is made on the trusted side, from files; nothing the sandbox says about git is read.
 */
import { limits } from "@antiphon/contracts";
import type { DispatchBody, ResultBody, SandboxOutcome } from "@antiphon/contracts";
import { checksOf, factsOf } from "../attempt/attempt.ts";
import type { JobPlan } from "../attempt/attempt.ts";
import { boundResult } from "./bounded-result.ts";
import { filesOf, manifestOf } from "./bundle.ts";
import type { Provenance } from "./bundle.ts";
import { reportOf } from "./report.ts";
import type { AttemptFacts, Ending } from "./report.ts";
import { isEmpty } from "../ports.ts";
import type { AttemptPorts, Change, Diff, Preparation } from "../ports.ts";
import type { AttemptOrder } from "../attempt/work.ts";

/** Of one journal record, so that the envelope and the references fit beside it. */
const RESULT_BYTES = limits.messageBytes - 16 * 1024;

export type Work = Extract<Preparation, { kind: "work" }>;

/** What happened, before anything is made of it. */
export interface Ran {
  readonly ending: Ending;
  readonly plan: JobPlan | null;
  readonly outcome: SandboxOutcome | null;
  readonly change: Change;
  readonly work: Work | null;
}

/** Turns what happened into the stored evidence and the report that points at it (A10). */
export async function reported(
  order: AttemptOrder,
  ports: AttemptPorts,
  ran: Ran,
): Promise<Extract<ResultBody, { kind: "reported" }>> {
  const { dispatch, runId, epoch, associate } = order;
  const diff = isEmpty(ran.change) ? null : await ports.trees.diff(dispatch.base, ran.change); // S5
  const facts = factsFor(dispatch, ran, diff);
  const report = reportOf(facts);
  const files = await ports.evidence.store(filesOf(facts, provenanceOf(order, ports, ran)));
  const manifest = manifestOf({
    runId,
    epoch,
    associate,
    baseCommit: dispatch.base.commit,
    facts,
    report,
    files,
  });
  const evidence = await ports.evidence.publish(manifest); // A10
  ports.progress(manifest.summary.split("\n", 1)[0]?.slice(0, 300) ?? "");
  return {
    kind: "reported",
    associate,
    result: boundResult(report.result, RESULT_BYTES),
    code: report.code,
    evidence,
    patch: files.find((file) => file.path === "diff.patch")?.blob ?? null,
  };
}

function factsFor(dispatch: DispatchBody, ran: Ran, diff: Diff | null): AttemptFacts {
  const { task } = dispatch;
  const outcomes = ran.outcome?.steps ?? [];
  return {
    taskId: task.task_id,
    kind: task.kind,
    ending: ran.ending,
    work: factsOf(ran.plan?.work ?? [], outcomes),
    checks: factsOf(ran.plan?.checks ?? [], outcomes),
    verify: { mode: task.verify_profile.mode, commands: checksOf(dispatch) },
    selfVerified: ran.work?.selfVerify ?? true,
    change: diff,
    note: ran.work?.note ?? "did nothing",
    wants: { diff: task.return.diff, filesChanged: task.return.files_changed },
  };
}

function provenanceOf(order: AttemptOrder, ports: AttemptPorts, ran: Ran): Provenance {
  const { dispatch } = order;
  const meta = ran.outcome?.meta ?? null;
  return {
    // Who, for what and when is in the manifest and its record; what is the same for many attempts is stored once.
    environment: { agent: dispatch.agent.kind, sandbox: meta },
    tools: meta === null ? [] : (ports.tools.get(dispatch.image ?? "") ?? []),
    git: {
      base_commit: dispatch.base.commit,
      base_tree: dispatch.base.tree,
      base_object: dispatch.base.object,
    },
    transcript: ran.work?.transcript ?? null,
    egress: ran.outcome?.egress ?? null,
  };
}
