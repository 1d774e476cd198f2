/**
 * The end of an attempt: makes the diff, the evidence bundle and the report.
 *
 * Promises:
 *   associate/A6 Because the diff is made outside the sandbox from collected files, and the evidence is stored before the
 *     report that refers to it, a sandbox cannot forge its diff and a report never points at missing evidence.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type {
  DispatchBody,
  EvidenceFile,
  ResultBody,
  SandboxOutcome,
  SandboxStepOutcome,
} from "@antiphon/contracts";
import { artifactPath, setAside, type Artifact } from "./artifacts.ts";
import { checksOf, factsOf } from "../attempt/attempt.ts";
import { isOwnFault } from "../attempt/fault.ts";
import type { JobPlan } from "../attempt/attempt.ts";
import { boundResult } from "./bounded-result.ts";
import { DIFF_FILE, filesOf, manifestOf } from "./bundle.ts";
import type { Provenance } from "./bundle.ts";
import { answerOf, COMPILE_EVIDENCE, compileFiles, keptSession, type Session } from "./compile-answer.ts";
import { insideMessage } from "./inside-commit.ts";
import { refusedCallOf } from "./refused-call.ts";
import { reportOf } from "./report.ts";
import type { AttemptFacts, Ending, Report } from "./report.ts";
import { transcriptOf } from "./transcript.ts";
import { usageIn } from "./usage-file.ts";
import { isEmpty } from "../ports.ts";
import type { AttemptPorts, Change, ChangedFile, Diff, Preparation } from "../ports.ts";
import type { AttemptOrder } from "../attempt/attempt-order.ts";

/** The largest report: one journal record, less room for its envelope and the references. */
const RESULT_BYTES = limits.messageBytes - 16 * 1024;

type ReportedResult = Extract<ResultBody, { kind: "reported" }>;

export type Work = Extract<Preparation, { kind: "work" }>;

/** The facts of an attempt that has ended. */
export interface Ran {
  readonly ending: Ending;
  readonly plan: JobPlan | null;
  readonly outcome: SandboxOutcome | null;
  readonly change: Change;
  readonly work: Work | null;
  /** The output of the command that waits for an answer, without `outcome`. Default: the output is not known. */
  readonly printed?: SandboxStepOutcome | null;
  /** The transcript, if the agent left one as a file. Default: null. */
  readonly account?: ChangedFile | null;
  /** The file with the tokens and the cost that the agent states. Default: null, it left none. */
  readonly used?: ChangedFile | null;
  /** The messages of people that the agent was given. Default: none. */
  readonly heard?: NonNullable<ReportedResult["heard"]>;
}

/** What an attempt proposes, before anything of it is stored. */
export interface Proposed {
  readonly facts: AttemptFacts;
  readonly report: Report;
  readonly artifacts: readonly Artifact[];
  /** Of an agent that compiles; null: there is none. */
  readonly session: Session | null;
}

export async function proposed(
  { dispatch }: Pick<AttemptOrder, "dispatch">,
  ports: Pick<AttemptPorts, "trees" | "evidence">,
  ran: Ran,
): Promise<Proposed> {
  const { artifacts, change } = setAside(dispatch.task, ran.change, ran.outcome);
  const { diff, ending } = await diffed(dispatch, ports, { ...ran, change }); // associate/A6
  const answer = await answerOf({ ...ran, ending }, ports.evidence);
  const end = answer !== null && "fault" in answer ? answer.fault : ending;
  const facts = factsFor(dispatch, { ...ran, ending: end }, diff, artifacts);
  const session = answer !== null && "session" in answer ? answer.session : null;
  return { facts, report: reportOf(facts), artifacts, session };
}

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

function stepsOf({ outcome, printed = null }: Ran): readonly SandboxStepOutcome[] {
  return outcome?.steps ?? (printed === null ? [] : [printed]);
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

/** A change that cannot be a diff of the base, such as one inside a submodule, is the agent's fault and is reported. */
async function diffed(
  dispatch: DispatchBody,
  ports: Pick<AttemptPorts, "trees">,
  { change, ending }: Ran,
): Promise<{ diff: Diff | null; ending: Ending }> {
  if (isEmpty(change)) return { diff: null, ending };
  try {
    return { diff: await ports.trees.diff(dispatch.base, change), ending };
  } catch (thrown) {
    const { code, detail } = AntiphonError.from(thrown);
    if (!isOwnFault(code)) throw thrown; // associate/A5
    return {
      diff: null,
      ending: ending.kind === "ran" ? { kind: "stopped", code, message: detail } : ending,
    };
  }
}

function factsFor(
  dispatch: DispatchBody,
  ran: Ran,
  diff: Diff | null,
  artifacts: readonly Artifact[],
): AttemptFacts {
  const wrote = artifacts.map(({ path }) => `; wrote ${path}`).join("");
  const { task } = dispatch;
  const outcomes = stepsOf(ran);
  return {
    taskId: task.task_id,
    kind: task.kind,
    git_action: task.git_action,
    ending: ran.ending,
    work: factsOf(ran.plan?.work ?? [], outcomes),
    checks: factsOf(ran.plan?.checks ?? [], outcomes),
    verify: { mode: task.verify_profile.mode, commands: checksOf(dispatch) },
    selfVerified: ran.work?.selfVerify ?? true,
    change: diff,
    setupFiles: (diff?.files ?? []).filter((path) => dispatch.environment?.decided_by.includes(path)),
    message: insideMessage(ran.outcome),
    note: `${ran.work?.note ?? "did nothing"}${wrote}`,
    budgetSpent: ran.outcome?.egress?.budget_spent === true,
    modelFailed: ran.outcome?.egress?.model_failed ?? null,
    refused: refusedCallOf(ran.outcome?.egress ?? null, dispatch.agent),
    left: artifacts.length,
    wants: {
      diff: task.return.diff,
      filesChanged: task.return.files_changed,
      files: task.return.artifacts.length,
    },
  };
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
