/**
 * The end of an attempt: stores the evidence of what it proposes, and reports it.
 *
 * Promises:
 *   associate/A6 Because the diff is made outside the sandbox from collected files, and the evidence is stored before the
 *     report that refers to it, a sandbox cannot forge its diff and a report never points at missing evidence.
 */
import { limits, type EvidenceFile, type ResultBody } from "@antiphon/contracts";
import type { AttemptOrder } from "../attempt/attempt-order.ts";
import type { AttemptPorts } from "../ports.ts";
import { artifactPath, type Artifact } from "./artifacts.ts";
import { boundResult } from "./bounded-result.ts";
import { DIFF_FILE, filesOf, manifestOf, type Provenance } from "./bundle.ts";
import { COMPILE_EVIDENCE, compileFiles, keptSession } from "./compile-answer.ts";
import { proposed } from "./proposal.ts";
import { stepsOf, type Ran } from "./ran.ts";
import { transcriptOf } from "./transcript.ts";
import { usageIn } from "./usage-file.ts";

/** The largest report: one journal record, less room for its envelope and the references. */
const RESULT_BYTES = limits.messageBytes - 16 * 1024;

type ReportedResult = Extract<ResultBody, { kind: "reported" }>;

/** Stores the evidence, then returns the report that refers to it. */
export async function reported(order: AttemptOrder, ports: AttemptPorts, ran: Ran): Promise<ReportedResult> {
  const { dispatch, runId, epoch, associate } = order;
  const { facts, report, artifacts, ...answered } = await proposed(order, ports, ran);
  const session = answered.session;
  const kept = session === null ? null : await keptSession(session, facts.change, artifacts, ports.evidence);
  const transcript = transcriptOf(
    ran.work?.account,
    ran.account ?? null,
    stepsOf(ran),
    ran.plan?.work.at(-1)?.id ?? null,
  );
  const bundle = [
    ...filesOf(facts, provenanceOf(order, ports, ran)),
    ...compileFiles(ran.work?.compiles?.input, kept ?? session),
    ...artifacts.map(({ file }) => file),
    ...transcript,
    ...(await usageIn(transcript, ran, ports)),
  ];
  const files = await ports.evidence.store(bundle);
  const manifest = manifestOf({
    runId,
    epoch,
    associate,
    baseCommit: dispatch.base.commit,
    facts,
    report,
    files,
  });
  const evidence = await ports.evidence.publish(manifest); // associate/A6
  // A live attempt may have acted on messages that its request does not hold.
  if (kept !== null && report.decision === "propose" && order.mailbox === undefined)
    await noted(order, ports, ran, files);
  ports.progress(manifest.summary.split("\n", 1)[0]?.slice(0, 300) ?? "");
  return {
    kind: "reported",
    associate,
    result: boundResult(report.result, RESULT_BYTES),
    code: report.code,
    evidence,
    patch: files.find((file) => file.path === DIFF_FILE)?.blob ?? null,
    ...deliveredIn(files, artifacts),
    ...(ran.heard === undefined || ran.heard.length === 0 ? {} : { heard: [...ran.heard] }),
  };
}

/** A request that is asked once more than needed is no reason to lose an attempt. */
async function noted(
  { runId, epoch, dispatch }: AttemptOrder,
  { compiled, log }: AttemptPorts,
  { work }: Ran,
  files: readonly EvidenceFile[],
): Promise<void> {
  const blob = files.find(({ path }) => path === COMPILE_EVIDENCE)?.blob;
  if (work?.compiles === undefined || blob === undefined) return;
  try {
    await compiled.keep(work.compiles.key, { run: runId, task: dispatch.task.task_id, epoch, blob });
  } catch (error) {
    log.warn({ err: error, run: runId, epoch }, "the session is not noted under its replay key");
  }
}

function deliveredIn(
  files: readonly EvidenceFile[],
  artifacts: readonly Artifact[],
): Pick<ReportedResult, "artifacts"> {
  if (artifacts.length === 0) return {};
  const stored = artifacts.flatMap(({ path }) => {
    const blob = files.find((file) => file.path === artifactPath(path))?.blob;
    return blob === undefined ? [] : [{ path, blob }];
  });
  return { artifacts: stored };
}

function provenanceOf(order: AttemptOrder, ports: AttemptPorts, ran: Ran): Provenance {
  const { dispatch } = order;
  const meta = ran.outcome?.meta ?? null;
  return {
    // The manifest has the ids and times. Without them, this file is equal for many attempts and is stored once.
    environment: { agent: dispatch.task.kind === "git" ? null : dispatch.agent.kind, sandbox: meta },
    tools: meta === null ? [] : (ports.tools.get(dispatch.image ?? "") ?? []),
    git: {
      base_commit: dispatch.base.commit,
      base_tree: dispatch.base.tree,
      base_object: dispatch.base.object,
    },
    prepared: ran.outcome?.environment ?? null,
    services: ran.outcome?.services ?? [],
    transcript: ran.work?.transcript ?? null,
    egress: ran.outcome?.egress ?? null,
  };
}
