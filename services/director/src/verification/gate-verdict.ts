/**
 * Reads what a skill found about a verified change, into the verdict of its task. The file is the agent's word: a finding counts
 * only if its quote is in the changed files or in what the change removed (director/D4), and no word of a skill makes a change land that has not passed the
 * clean room. The verdict names the tree that was judged.
 */
import {
  blockingIn,
  deliverableOfSkill,
  layout,
  reviewMarkdown,
  reviewResult,
  reviewSentence,
  validateDocument,
  type Finding,
  type PlannedGate,
  type QaReport,
  type SkillResult,
  type VerdictBody,
} from "@antiphon/contracts";
import { intentOf, judgedChange, type EffectOf, type JudgedChange, type RunState } from "@antiphon/run";
import type { RepositoryPort, TextFile, VerdictEvidencePort } from "../ports.ts";
import { CODES, faultIn, readReview } from "./delivery.ts";

interface Ports {
  readonly repository: Pick<RepositoryPort, "texts" | "diff">;
  readonly evidence: Pick<VerdictEvidencePort, "artifact" | "store">;
}

/** What a skill said, and whether the change may land. */
interface Found {
  readonly verdict: VerdictBody["verdict"];
  readonly code: string | null;
  readonly message: string;
  readonly files: readonly TextFile[];
}

export async function gateVerdict(
  run: RunState,
  effect: EffectOf<"verify">,
  gate: PlannedGate,
  { repository, evidence }: Ports,
): Promise<VerdictBody> {
  const judged = judgedChange(run, effect.task); // run/R10
  const found =
    judged === null ? STALE : await foundBy(run, effect, { gate, judged }, { repository, evidence });
  const { verdict, code, message } = found;
  const body = {
    ...{ verdict, code, message, checks: [], baseChecks: [], head: run.head, commit: null },
    tree: judged?.tree ?? null,
  };
  const trials = { change: [], base: [], hollow: [], withoutJudges: [], own: [] };
  const about = { run: run.runId, task: effect.taskId, epoch: effect.epoch };
  return { ...body, evidence: await evidence.store({ ...body, ...about, trials, files: found.files }) };
}

const STALE: Found = {
  ...{ verdict: "UNVERIFIABLE", code: "ANT_GATE_STALE", files: [] },
  message: "the change that was judged does not wait any more",
};

interface Judged {
  readonly gate: PlannedGate;
  readonly judged: JudgedChange;
}

async function foundBy(
  run: RunState,
  { phase: { report }, taskId }: EffectOf<"verify">,
  { gate, judged: { task, head, commit } }: Judged,
  { repository, evidence }: Ports,
): Promise<Found> {
  const { file, criterion } = deliverableOfSkill(gate.skill);
  const left = report.artifacts?.find(({ path }) => path === file);
  if (left === undefined) return invalid(gate, `the ${gate.skill} wrote no ${file}; ${criterion}`);
  const text = (await evidence.artifact(left.blob)).toString("utf8");
  const place = `${layout.skillResults(run.runId)}/${taskId}`;
  const { commands } = task.planned.task.verify_profile;
  const about = { runId: run.runId, taskId: gate.of };
  if (gate.skill === "qa") return qaFound(text, gate, { ...about, commands, place });
  const { base } = intentOf(run);
  const at = (one: string) => (paths: readonly string[]) => repository.texts(base.repo, one, paths);
  const review = await readReview(text, at(commit), at(head));
  if (typeof review === "string") return invalid(gate, review);
  const goal = task.planned.task.instruction;
  const diff = (await repository.diff(base.repo, head, commit)).toString("utf8");
  const result = reviewResult(review, { ...about, goal, commit, diff, blocks: gate.blocks });
  const blocking = blockingIn(review, gate.blocks);
  const says = `reviewer: ${reviewSentence(review)}`;
  return {
    ...(blocking.length === 0 ? passes(says) : blocked([says, ...blocking.map(lineOf)].join("\n"))),
    files: [json(place, result), { path: `${place}.md`, text: reviewMarkdown(review, goal) }],
  };
}

function qaFound(
  text: string,
  gate: PlannedGate,
  about: {
    readonly runId: string;
    readonly taskId: string;
    readonly commands: string[];
    readonly place: string;
  },
): Found {
  const { file } = deliverableOfSkill("qa");
  const check = validateDocument(text, { filename: file, schema: "QaReport" });
  if (!check.ok) return invalid(gate, faultIn(file, check.errors));
  const output = check.value as QaReport;
  const result: SkillResult = {
    ...{ skill: "qa", run_id: about.runId },
    pairs: [{ input: { task_id: about.taskId, commands: about.commands }, output }],
  };
  const says = `qa: ${output.details}`;
  return { ...(output.result === "PASS" ? passes(says) : blocked(says)), files: [json(about.place, result)] };
}

/** Characters of a message: the next attempt is told as much. */
const MESSAGE_CHARS = 8192;

const passes = (message: string): Omit<Found, "files"> => ({
  ...{ verdict: "PASS", code: null, message: message.slice(0, MESSAGE_CHARS) },
});

const blocked = (message: string): Omit<Found, "files"> => ({
  ...{ verdict: "FAIL", code: "ANT_GATE_BLOCKED", message: message.slice(0, MESSAGE_CHARS) },
});

function invalid({ skill }: PlannedGate, message: string): Found {
  return { verdict: "FAIL", code: CODES[deliverableOfSkill(skill).kind], message, files: [] };
}

function lineOf({ severity, file, line, quote, why, suggestion }: Finding): string {
  const advice = suggestion === undefined ? "" : ` Suggestion: ${suggestion}`;
  return `- ${severity} ${file}:${line} (${quote.split("\n", 1)[0]?.trim().slice(0, 200) ?? ""}): ${why}${advice}`;
}

const json = (place: string, result: SkillResult): TextFile => ({
  path: `${place}.json`,
  text: `${JSON.stringify(result, null, 2)}\n`,
});
