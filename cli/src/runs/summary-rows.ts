// The summary of a run as rows for a terminal. Pure.
import type { StepApproval } from "@antiphon/contracts";
import { branch, firstLine, short } from "../screen/short-forms.ts";
import { consent } from "./consent.ts";
import type { RunSummary, TaskSummary } from "./summary.ts";

/** Labels and texts in printing order. `take`: the command that merges or fetches the result, if there is one. */
export function summaryRows(summary: RunSummary, take: string | null): [string, string][] {
  const rows: [string, string][] = [["run", summary.runId]];
  for (const task of summary.tasks)
    rows.push(
      [task.task, taskText(task, summary.status)],
      ...unprovenRows(task),
      ...approvalRows(task, summary.status),
    );
  for (const { task, attempt, by, text, heard } of summary.messages) {
    const read = heard.length === 0 ? "not read" : `read by attempt ${heard.join(", ")}`;
    rows.push(["message", `${by} to attempt ${attempt} of ${task} (${read}): ${firstLine(text)}`]);
  }
  if (summary.commit !== null && summary.branch !== null)
    rows.push(["commit", `${summary.commit} on ${summary.branch}`]);
  const target = summary.landedOn === null ? null : branch(summary.landedOn);
  if (target !== null && target !== summary.branch) rows.push(["landed on", target]);
  else if (take !== null) rows.push(["take it", take]);
  if (summary.signed !== null) rows.push(["signed by", summary.signed]);
  if (summary.tasks.some((task) => task.evidence !== null)) {
    rows.push(["evidence", `antiphon evidence get ${summary.runId}`]);
    rows.push(["", `antiphon evidence export ${summary.runId} --out evidence-${summary.runId}`]);
  }
  const allow = consent(summary);
  if (allow !== null) rows.push(["allow it", allow], ["", "this takes the same change, without its agent"]);
  if (summary.status === "failed" && summary.checkNamed)
    rows.push([
      "new check",
      'antiphon run "<intent>" --check "<command>"; a retry keeps the one that was named',
    ]);
  if (summary.paused) rows.push(["paused", `resume it with: antiphon resume ${summary.runId}`]);
  if (summary.status === "waiting_input") {
    for (const question of summary.tasks.flatMap((task) => task.questions)) rows.push(["question", question]);
    rows.push(...howToAnswer(summary));
  }
  return rows;
}

/** A change that landed although its checks say nothing about it, and in a row of its own how to demand more. */
function unprovenRows({ commit, proves, message }: TaskSummary): [string, string][] {
  if (commit === null || proves !== "nothing" || message === null) return [];
  return message.split(/; (?=--require-proof )/).map((part) => ["", firstLine(part)]);
}

/** The state of a task's approval, and each decision with its author. */
function approvalRows({ approval }: TaskSummary, run: RunSummary["status"]): [string, string][] {
  if (approval === null) return [];
  const { commit, needed, words, verdict, reasons = [] } = approval;
  const given = words.filter(({ choice }) => choice === "approve").length;
  const isOver = run === "canceled" || run === "failed";
  const pending = isOver ? "was not decided" : "waits for approval";
  const state = approval.state === "pending" ? pending : STATE_WORDS[approval.state];
  const rows: [string, string][] = [
    ["", `commit ${short(commit)} ${state}, ${given} of ${needed}; verdict ${verdict}`],
  ];
  for (const reason of reasons) rows.push(["", `because ${firstLine(reason)}`]);
  for (const { choice, by, at, reason } of words)
    rows.push(["", `${choice} by ${by} at ${at}${reason === undefined ? "" : `: ${firstLine(reason)}`}`]);
  return rows;
}

const STATE_WORDS: Record<Exclude<StepApproval["state"], "pending">, string> = {
  approved: "is approved",
  rejected: "is rejected",
  changes: "was sent back for changes",
};

function howToAnswer({ runId, tasks }: RunSummary): [string, string][] {
  const pending = tasks.filter(({ approval }) => approval?.state === "pending");
  const isAsked = tasks.some(
    ({ questions, approval }) => questions.length > 0 && approval?.state !== "pending",
  );
  const rows: [string, string][] = isAsked ? [["answer", `antiphon answer ${runId} "<your answer>"`]] : [];
  const [first] = pending;
  if (first?.approval == null) return rows;
  const { verdict } = first.approval;
  rows.push(["approve", `antiphon approve ${runId} --verdict ${verdict}`]);
  rows.push(["or", `antiphon reject ${runId} --reason "<why>"`]);
  rows.push(["or", `antiphon changes ${runId} --reason "<what to change>"`]);
  return rows;
}

/** The phase of a task that has no verdict yet. */
function phaseWords(task: TaskSummary): string {
  const { phase, status, epoch } = task;
  switch (phase) {
    case "blocked":
      return "waiting for other tasks";
    case "ready":
      return epoch === 0 ? "waiting for the Director" : attemptAt(task, "waiting for an Associate");
    case "paused":
      return "paused";
    case "resting":
      return "waiting to retry";
    case "claimed":
      return attemptAt(task, "running");
    case "verifying":
      return attemptAt(task, "in the clean room");
    case "gated":
      return "judged by a skill";
    case "landing":
      return "landing";
    case "waiting_input":
      return "waiting for your answer";
    case "finished":
      return status;
  }
}

function attemptAt({ epoch, afterQuestion }: TaskSummary, where: string): string {
  return afterQuestion
    ? `first attempt ${where} (number ${epoch}, after the question)`
    : `attempt ${epoch} ${where}`;
}

function taskText(task: TaskSummary, run: RunSummary["status"]): string {
  const isCanceled = run === "canceled" && task.status !== "done"; // The status of a task has no word for it.
  const verdict = isCanceled ? "canceled" : (task.verdict ?? phaseWords(task));
  const tries = task.attempts > 1 ? ` after ${task.attempts} attempts` : "";
  const landed = task.commit === null ? "" : `, landed as ${short(task.commit)}`;
  const why = task.code === null ? "" : `: ${task.code}`;
  const after = task.deps.length === 0 ? "" : ` (after ${task.deps.join(", ")})`;
  return `${verdict}${tries}${landed}${why}  ${firstLine(task.title)}${after}${ownWords(task)}`;
}

function ownWords({ agent, image, network }: TaskSummary): string {
  const words = [
    ...(agent === undefined ? [] : [`by ${agent}`]),
    ...(image === undefined ? [] : [`in ${image}`]),
    ...(network === undefined ? [] : [`with ${network}`]),
  ];
  return words.length === 0 ? "" : ` [${words.join(" ")}]`;
}
