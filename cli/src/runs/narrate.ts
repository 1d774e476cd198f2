// Describes a run in plain words, one journal record at a time. Pure.
import type { CheckOutcome, VerdictBody } from "@antiphon/contracts";
import type { LiveOutput, RunRecord } from "../gateway/gateway-client.ts";
import { plain } from "../screen/screen.ts";
import { duration } from "../screen/table.ts";

export interface Line {
  readonly mark: "step" | "good" | "bad" | "wait";
  /** The task, or null for the whole run. */
  readonly task: string | null;
  readonly text: string;
}

export function narrate(record: RunRecord): Line[] {
  const task = record.type === "approval" ? record.body.task : record.taskId;
  const say = (mark: Line["mark"], text: string): Line[] => [{ mark, task, text }];
  switch (record.type) {
    case "intent":
      return accepted(record.body, say);
    case "routed":
      return routed(record.body);
    case "dispatch":
      return say("step", dispatched(record.epoch, record.body.feedback.at(-1)?.message));
    case "claim":
      return say("step", `claimed by ${record.body.associate}`);
    case "result":
      return result(record, say);
    case "verdict":
      return verdict(record, say);
    case "landing":
      if (record.body.kind === "refused")
        return say("bad", `not landed: ${record.body.message} (${record.body.code})`);
      return say("good", `landed as ${short(record.body.commit)} on ${branch(record.body.ref)}`);
    case "cancel":
      return say(
        "bad",
        `cancel requested by ${record.body.by}${record.body.reason === "" ? "" : `: ${record.body.reason}`}`,
      );
    case "input":
      return record.body.event === "approval" ? decided(record.body, say) : answered(record.body, say);
    case "approval":
      return decided(record.body, say);
    case "control":
      return control(record.body, say);
    case "requeue":
      return say(
        "step",
        `requeued for the ${record.body.consumer} by ${record.body.by}, after ${record.body.code ?? "a dead letter"}`,
      );
    case "due":
      return record.body.kind === "rest"
        ? say("step", "retry delay over; dispatching")
        : say("bad", "no answer arrived in time");
    case "closed":
    case "archived":
    case "restored":
      return []; // The summary says it.
  }
}

function routed({ workflow, reason, tasks }: Extract<RunRecord, { type: "routed" }>["body"]): Line[] {
  const head: Line = {
    mark: "step",
    task: null,
    text: `${workflow}, ${tasks.length} task${tasks.length === 1 ? "" : "s"} (${reason})`,
  };
  if (tasks.length <= 1) return [head];
  const each = tasks.map(({ task, deps }): Line => {
    const after = deps.length === 0 ? "" : ` (after ${deps.join(", ")})`;
    return { mark: "step", task: task.task_id, text: `planned: ${firstLine(task.instruction)}${after}` };
  });
  return [head, ...each];
}

function dispatched(epoch: number, because: string | undefined): string {
  return because === undefined
    ? `attempt ${epoch}`
    : `attempt ${epoch}, with feedback: ${firstLine(because)}`;
}

type Input = Extract<RunRecord, { type: "input" }>["body"];

function answered({ by, choice, answers }: Input, say: Say): Line[] {
  return say("step", `answered by ${by}: ${choice ?? answers.join("; ")}`);
}

/** A person's choice, with its reason or answers. */
function decided({ by, choice, reason = "", ...more }: Decided, say: Say): Line[] {
  const words = reason === "" ? (more.answers ?? []).join("; ") : reason;
  const why = words === "" ? "" : `: ${firstLine(words)}`;
  if (choice === "approve") return say("good", `approved by ${by}${why}`);
  if (choice === "reject") return say("bad", `rejected by ${by}${why}`);
  if (choice === "changes") return say("wait", `changes requested by ${by}${why}`);
  return say("step", `answered by ${by}: ${choice ?? words}`);
}

interface Decided {
  readonly by: string;
  readonly choice?: string;
  readonly reason?: string;
  readonly answers?: readonly string[];
}

function control({ kind, by, reason }: Extract<RunRecord, { type: "control" }>["body"], say: Say): Line[] {
  const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
  return kind === "pause"
    ? say("wait", `paused by ${by}${why}; attempts already running may finish`)
    : say("step", `resumed by ${by}${why}`);
}

type Say = (mark: Line["mark"], text: string) => Line[];

function result({ body, epoch }: Extract<RunRecord, { type: "result" }>, say: Say): Line[] {
  if (body.kind === "lapsed") return say("bad", `attempt ${epoch} lost: ${body.holder} stopped responding`);
  if (body.kind === "abandoned" && body.outage === true)
    return say("wait", `no sandbox available: ${body.message} (${body.code})`);
  if (body.kind === "abandoned")
    return say("bad", `attempt ${epoch} given up: ${body.message} (${body.code})`);
  const { status, summary, files_changed: files, verify, questions } = body.result;
  if (status === "needs_input") return questions.flatMap((question) => say("wait", `asks: ${question}`));
  if (status === "failed")
    return say("bad", `attempt ${epoch} failed: ${withCode(firstLine(summary), body.code)}`);
  const count = `${files.length} file${files.length === 1 ? "" : "s"} changed`;
  const own = { pass: "own check passed", fail: "own check failed", unknown: "no own check" }[verify.status];
  return say("step", `proposes: ${count}, ${own}; now the clean room`);
}

function verdict({ body }: Extract<RunRecord, { type: "verdict" }>, say: Say): Line[] {
  const mark = body.verdict === "PASS" || body.commit !== null ? "good" : "bad";
  const checks = body.checks.map(check).join("; ");
  // A plain PASS shows only its checks; any other verdict shows its reason.
  const why =
    body.code === null && body.verdict === "PASS" ? "" : withCode(firstLine(body.message), body.code);
  const proof = body.verdict === "PASS" ? proofOf(body) : "";
  const because = [why, checks, proof].filter((part) => part !== "").join("; ");
  return say(mark, `clean room: ${body.verdict}${because === "" ? "" : `: ${because}`}`);
}

function accepted({ base, options }: Extract<RunRecord, { type: "intent" }>["body"], say: Say): Line[] {
  const where = say("step", `accepted: ${base.repo.path} at ${short(base.commit)} (${branch(base.ref)})`);
  if (options.image_note === undefined) return where;
  return [...where, ...say("wait", `uses the standard image: ${options.image_note}`)];
}

/** Older records have no `proves`; there the checks of the base show the proof. */
function proofOf({ proves, baseChecks, trials }: VerdictBody): string {
  const times =
    trials === undefined || trials.change < 2 ? "" : `in ${trials.change} of ${trials.change} trials`;
  return [times, proofText(proves, baseChecks)].filter((part) => part !== "").join("; ");
}

function proofText(proves: VerdictBody["proves"], baseChecks: VerdictBody["baseChecks"]): string {
  if (proves === "nothing") return "proves nothing about the change";
  if (proves === "fail-to-pass" || baseChecks.some(({ exitCode }) => exitCode !== 0))
    return "failed without the change";
  if (proves !== "regression") return "";
  return baseChecks.length > 0 ? "also passes without the change" : "not tried without the change";
}

/** Adds the code to the message unless it contains the code already. */
function withCode(message: string, code: string | null): string {
  return code === null || message.includes(code) ? message : `${message} (${code})`;
}

function check(outcome: CheckOutcome): string {
  const end = outcome.timedOut
    ? "timed out"
    : outcome.exitCode === 0
      ? "passed"
      : `exit ${outcome.exitCode ?? "none"}`;
  return `${firstLine(outcome.command)} ${end} in ${duration(outcome.durationMs)}`;
}

/** The status line: the newest progress message, or the service the run is waiting for. */
export function doingNow(last: RunRecord | undefined, progress: LiveOutput | null): string {
  if (progress === null) return last === undefined ? "waiting for the gateway" : doing(last);
  return `${progress.taskId ?? "run"}: ${plain(progress.text).replaceAll(/\s+/g, " ")}`;
}

function doing(record: RunRecord): string {
  const where = record.taskId === null ? "" : `${record.taskId}: `;
  switch (record.type) {
    case "intent":
      return "waiting for the Router";
    case "routed":
    case "input":
    case "approval":
    case "landing":
      return "waiting for the Director";
    case "dispatch":
      return `${where}waiting for an Associate`;
    case "claim":
      return `${where}working in a sandbox`;
    case "result":
      if (record.body.kind === "abandoned" && record.body.outage === true)
        return `${where}waiting to retry; no sandbox available (${record.body.code})`;
      return record.body.kind === "reported" && record.body.result.status === "ok"
        ? `${where}verifying in a clean room`
        : "waiting for the Director";
    case "verdict":
      return record.body.verdict === "PASS" ? `${where}landing` : "waiting for the Director";
    case "cancel":
      return "stopping";
    case "control":
      return record.body.kind === "pause" ? "paused" : "waiting for the Director";
    case "requeue":
    case "due":
      return "waiting for the Director";
    case "closed":
    case "archived":
    case "restored":
      return "";
  }
}

export function short(commit: string): string {
  return commit.slice(0, 10);
}

export function branch(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

export function firstLine(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 157)}...` : line;
}
