/** One record as one sentence. Pure. */
import type { RunRecord } from "../api/run-record.ts";
import { harmless } from "../screen/harmless.ts";

/** @param records those of the run; without them the first attempt after a question has its number only */
export function sentenceOf(record: RunRecord, records: readonly RunRecord[] = []): string {
  const task = record.taskId === null ? "" : `${record.taskId}: `;
  return (
    harmless(`${task}${wordsOf(record, records)}`)
      .split("\n")[0]
      ?.slice(0, 200) ?? ""
  );
}

function wordsOf(record: RunRecord, records: readonly RunRecord[]): string {
  switch (record.type) {
    case "intent":
      return `requested by ${record.body.principal}`;
    case "routed":
      return `${record.body.workflow}${doubtOf(record.body)}, ${record.body.tasks.length} task(s)`;
    case "dispatch":
      return `${attemptOf(record, records)} dispatched`;
    case "claim":
      return `claimed by ${record.body.associate}`;
    case "result":
      if (record.body.kind === "reported") return `reported ${record.body.result.status}`;
      return record.body.kind === "lapsed" ? "the attempt was lost" : `given up: ${record.body.message}`;
    case "verdict":
      return record.body.asks === undefined ? `clean room: ${ruled(record.body)}` : "asks for a check";
    case "landing":
      return record.body.kind === "refused"
        ? `not landed: ${record.body.message}`
        : `landed as ${record.body.commit.slice(0, 10)} on ${record.body.ref.replace("refs/heads/", "")}`;
    case "approval":
      return `${record.body.choice} by ${record.body.by}`;
    case "input":
      return `answered by ${record.body.by}`;
    case "message":
      return `${record.body.by} told attempt ${record.body.attempt} of ${record.body.task}: ${record.body.text}`;
    case "cancel":
      return `cancel requested by ${record.body.by}`;
    case "control":
      return `${record.body.kind} by ${record.body.by}`;
    case "closed":
      return `closed: ${record.body.status}`;
    default:
      return record.type;
  }
}

/** Numbers before the first attempt are those of questions for a check. */
function attemptOf({ taskId, epoch }: RunRecord, records: readonly RunRecord[]): string {
  const before = records.filter((one) => one.taskId === taskId && one.epoch < epoch);
  const wasAsked = before.some(({ type, body }) => type === "verdict" && "asks" in body);
  const isFirst = wasAsked && !before.some(({ type }) => type === "dispatch");
  return isFirst ? `first attempt, number ${epoch} after the question,` : `attempt ${epoch}`;
}

/** A change that passes, and of which the checks say nothing, says so beside its verdict. */
function ruled({ verdict, proves, commit }: Extract<RunRecord, { type: "verdict" }>["body"]): string {
  const isUnproven = verdict === "PASS" && proves === "nothing" && commit !== null;
  return isUnproven ? `${verdict}, which proves nothing about the change` : verdict;
}

function doubtOf({ unsure, alternatives }: Extract<RunRecord, { type: "routed" }>["body"]): string {
  if (unsure !== true) return "";
  const [other] = alternatives ?? [];
  return other === undefined
    ? " (a guess)"
    : ` (a guess; if it is ${other.workflow}, run it again with --workflow ${other.workflow})`;
}
