// The results of a run that lands nothing (a plan, findings or a brief), read from the clean room's evidence. For a run that lands a
// change: the findings of the reviewer that the change had to pass.
import { createHash } from "node:crypto";
import type { BriefOutput, DroppedFinding, Finding, SkillResult } from "@antiphon/contracts";
import { isMaterial } from "@antiphon/contracts/runs/connectors";
import { readPlanText } from "@antiphon/contracts/plans/plan-text";
import type { TaskGraph } from "@antiphon/contracts/plans/read-plan";
import { reviewSentence } from "@antiphon/contracts/reviews/review";
import { filePath } from "../evidence/evidence-view.ts";
import { Failure } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import type { Screen } from "../screen/screen.ts";
import type { RunSummary } from "./summary.ts";

const SHOWN_ENTRIES = 20;
const PLAN_PATH = "plan/plan.yaml";
const resultsOf = (runId: string): string => `skills/results/${runId}/`;
const reviewPath = (runId: string): string => `${resultsOf(runId)}reviewer.json`;
const briefPath = (runId: string): string => `${resultsOf(runId)}brief.json`;

export interface ReviewOutput {
  readonly decision: "accept" | "reject";
  readonly findings: readonly Finding[];
  readonly dropped: readonly DroppedFinding[];
}

/** Empty for a run that delivers none of them, or has not yet. */
export interface Delivery {
  readonly brief?: BriefOutput;
  readonly plan?: Pick<TaskGraph, "goal" | "tasks">;
  readonly review?: ReviewOutput;
}

type Delivering = Pick<RunSummary, "runId" | "workflow" | "status" | "repo">;

async function deliveryOf(
  gateway: GatewayClient,
  { runId, workflow, status, repo }: Delivering,
): Promise<Delivery> {
  if (status !== "succeeded" || (workflow !== "PLAN" && workflow !== "REVIEW")) return {};
  if (workflow === "REVIEW") {
    const result = await verdictFile(gateway, runId, reviewPath(runId));
    return result === null ? {} : { review: outputOf(result) };
  }
  if (repo !== null && isMaterial({ path: repo })) {
    const result = await verdictFile(gateway, runId, briefPath(runId));
    return result === null ? {} : { brief: outputOf<BriefOutput>(result) };
  }
  const text = await verdictFile(gateway, runId, PLAN_PATH);
  const read = text === null ? null : readPlanText(text, PLAN_PATH);
  if (read?.ok !== true) return {};
  const { goal, tasks } = read.plan;
  return { plan: { goal, tasks } };
}

/** Like `deliveryOf`. A delivery that cannot be read is named, and hides nothing else of the run. */
export async function shownDelivery(
  screen: Screen,
  gateway: GatewayClient,
  summary: Delivering,
): Promise<Delivery> {
  try {
    return await deliveryOf(gateway, summary);
  } catch (thrown) {
    const { code, message } = Failure.from(thrown);
    screen.err(`the result of ${summary.runId} cannot be read: ${code}: ${message}`);
    return {};
  }
}

export async function reviewIn(gateway: GatewayClient, runId: string): Promise<ReviewOutput> {
  const result = await reviewFile(gateway, runId, "json");
  if (result !== null) return outputOf(result);
  throw new Failure("ANT_EVIDENCE_NOT_FOUND", `${runId} has no findings`, {
    remedy: `\`antiphon get ${runId}\` shows the state of the run; only a REVIEW run whose agent wrote findings.json, or a run with \`--gate reviewer\`, has findings`,
  });
}

export async function reviewTextIn(gateway: GatewayClient, runId: string): Promise<string> {
  await reviewIn(gateway, runId);
  return (await reviewFile(gateway, runId, "md")) ?? "";
}

/** Of a REVIEW run, or else of the last change that a reviewer judged, whatever came of it. */
async function reviewFile(
  gateway: GatewayClient,
  runId: string,
  form: "json" | "md",
): Promise<string | null> {
  const own = await verdictFile(gateway, runId, reviewPath(runId).replace(/json$/, form));
  if (own !== null) return own;
  return newestFile(
    gateway,
    runId,
    (path) => path.startsWith(resultsOf(runId)) && path.endsWith(`-reviewer.${form}`),
  );
}

/** The plan of a PLAN run, and the goal that it was asked for. */
export async function planOf(
  gateway: GatewayClient,
  runId: string,
): Promise<{ text: string; goal: string | null }> {
  const text = await verdictFile(gateway, runId, PLAN_PATH);
  if (text === null)
    throw new Failure("ANT_EVIDENCE_NOT_FOUND", `${runId} has no plan`, {
      remedy: `\`antiphon get ${runId}\` shows the state of the run; only a PLAN run that succeeded has a plan`,
    });
  const { records } = await gateway.get("/runs/{id}/events", { id: runId });
  const intent = records.find((record) => record.type === "intent");
  return { text, goal: intent?.type === "intent" ? intent.body.intent.goal : null };
}

/** The text of a file of the newest verdict that passed and has it; null: none does. */
function verdictFile(gateway: GatewayClient, runId: string, path: string): Promise<string | null> {
  return newestFile(gateway, runId, (one, { decision }) => one === path && decision === "PASS");
}

async function newestFile(
  gateway: GatewayClient,
  runId: string,
  isWanted: (path: string, manifest: { readonly decision: string }) => boolean,
): Promise<string | null> {
  const { bundles } = await gateway.get("/runs/{id}/evidence", { id: runId });
  for (const { kind, manifest, taskId, epoch } of bundles.toReversed()) {
    const file = manifest.files.find((one) => isWanted(one.path, manifest));
    if (kind !== "verdict" || file === undefined) continue;
    const { path } = file;
    const bytes = await gateway.bytes(filePath(runId, taskId, epoch, path, true));
    const digest = `sha256-${createHash("sha256").update(bytes).digest("base64url")}`;
    if (digest !== file.blob.digest)
      throw new Failure("ANT_BLOB_CORRUPT", `${path} is ${digest}, its manifest says ${file.blob.digest}`);
    return bytes.toString("utf8");
  }
  return null;
}

function outputOf<Output = ReviewOutput>(text: string): Output {
  const { pairs } = JSON.parse(text) as SkillResult;
  return pairs[0]?.output as Output;
}

/** Lines for `antiphon get`. */
export function deliveryRows(runId: string, { brief, plan, review }: Delivery): string[] {
  if (brief !== undefined)
    return [
      `  brief  ${oneLine(brief.summary)}`,
      ...brief.entries.slice(0, SHOWN_ENTRIES).map(({ source, title, status, note }) => {
        const says = note === undefined ? "" : `: ${oneLine(note)}`;
        return `    ${oneLine(source)}  ${oneLine(title)} (${oneLine(status)})${says}`;
      }),
      ...(brief.entries.length > SHOWN_ENTRIES
        ? [`    and ${brief.entries.length - SHOWN_ENTRIES} more`]
        : []),
      `  read it  antiphon evidence export ${runId} --out evidence-${runId}`,
    ];
  if (review !== undefined)
    return [
      `  review  ${reviewSentence(review)}`,
      ...findingLines(review),
      `  read it  antiphon findings ${runId}`,
    ];
  if (plan === undefined) return [];
  return [
    `  plan  ${plan.tasks.length} ${plan.tasks.length === 1 ? "task" : "tasks"}`,
    ...plan.tasks.map(({ id, description, dependencies }) => {
      const after = dependencies.length === 0 ? "" : ` (after ${dependencies.join(", ")})`;
      return `    ${id}  ${oneLine(description)}${after}`;
    }),
    `  run it  antiphon run --plan ${runId} --agent <name>`,
  ];
}

export function findingLines({ findings }: ReviewOutput): string[] {
  return findings.map(
    ({ severity, file, line, why }) => `    ${severity.padEnd(7)}  ${file}:${line}  ${oneLine(why)}`,
  );
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 157)}...` : line;
}
