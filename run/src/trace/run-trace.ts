/**
 * The trace of a run as a function of its records: one span for the run, one for each attempt, and in it the waiting, the
 * work, the clean room and the landing, with the journal's times. Whichever Director closes the run tells it; a second one
 * tells the same spans under the same ids.
 */
import { stageSpanId, type Stage } from "@antiphon/contracts/tracing/stages";
import { parseTraceparent } from "@antiphon/contracts/tracing/trace-context";
import type { Span } from "@antiphon/contracts/tracing/span";
import type { ReadRecord } from "../facts/run-facts.ts";

/** Empty: the run has no trace, its caller does not want it recorded, or it is not over. */
export function traceOf(records: readonly ReadRecord[]): Span[] {
  const intent = records.find(({ type }) => type === "intent");
  const closed = records.find((record) => record.type === "closed");
  const context = parseTraceparent(intent?.traceparent);
  if (intent === undefined || closed?.type !== "closed" || context?.sampled !== true) return [];
  const { traceId } = context;
  const { runId } = intent;
  const routed = records.find(({ type }) => type === "routed");
  const own = stageSpanId(traceId, "run", { runId, taskId: null, epoch: 0 });
  const about = { traceId, runId };
  const run: Span = {
    ...spanOf(about, "run", "run", intent, closed, context.spanId === own ? null : context.spanId),
    attributes: { "antiphon.run": runId, "antiphon.status": closed.body.status, ...coded(closed.body.code) },
    error: closed.body.status === "failed" ? (closed.body.code ?? closed.body.status) : null,
  };
  const routing = routed === undefined ? [] : [spanOf(about, "routing", "routing", intent, routed, own)];
  return [
    run,
    ...routing,
    ...attemptsOf(records).flatMap((attempt) => attemptSpans(about, attempt, closed, own)),
  ];
}

/** The records of each task and epoch, in order; those of an integration have no task. */
function attemptsOf(records: readonly ReadRecord[]): (readonly ReadRecord[])[] {
  const groups = new Map<string, ReadRecord[]>();
  for (const record of records) {
    if (!["dispatch", "claim", "result", "verdict", "landing"].includes(record.type)) continue;
    if (record.type === "verdict" && record.body.asks !== undefined) continue; // no attempt
    const key = `${record.taskId ?? "-"} ${record.epoch}`;
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups.values()];
}

interface About {
  readonly traceId: string;
  readonly runId: string;
}

/** A part that no record ended ends with the run. */
function attemptSpans(
  about: About,
  records: readonly ReadRecord[],
  closed: ReadRecord,
  parent: string,
): Span[] {
  const [first] = records;
  if (first === undefined) return [];
  const at = (type: ReadRecord["type"]) => records.find((record) => record.type === type);
  const [claim, result, verdict, landing] = [at("claim"), at("result"), at("verdict"), at("landing")];
  const last = landing ?? verdict ?? result ?? closed;
  const title = `${first.taskId ?? "integration"} attempt ${first.epoch}`;
  const attempt = spanOf(about, "attempt", title, first, last, parent);
  const part = (stage: Stage, from: ReadRecord, to: ReadRecord = last): Span =>
    spanOf(about, stage, stage, from, to, attempt.spanId);
  return [
    { ...attempt, ...judged(verdict, result) },
    ...(first.type === "dispatch" ? [part("queue", first, claim)] : []),
    ...(claim === undefined ? [] : [part("work", claim, result)]),
    ...(verdict === undefined ? [] : [part("verification", result ?? first, verdict)]),
    ...(landing === undefined ? [] : [part("landing", verdict ?? first, landing)]),
  ];
}

function judged(verdict: ReadRecord | undefined, result: ReadRecord | undefined) {
  if (verdict?.type === "verdict") {
    const { verdict: word, code } = verdict.body;
    return told(
      { "antiphon.verdict": word, ...coded(code) },
      verdict,
      word === "PASS" ? null : (code ?? word),
    );
  }
  if (result?.type !== "result") return {};
  const code = "code" in result.body ? result.body.code : null;
  return told({ "antiphon.result": result.body.kind, ...coded(code) }, result, code);
}

const told = (attributes: Span["attributes"], record: ReadRecord, error: string | null) => ({
  attributes: { ...placed(record), ...attributes },
  error,
});

function spanOf(
  { traceId, runId }: About,
  stage: Stage,
  name: string,
  from: ReadRecord,
  to: ReadRecord,
  parentSpanId: string | null,
): Span {
  const place = { runId, taskId: from.taskId, epoch: from.epoch };
  const startMs = msOf(from);
  return {
    traceId,
    spanId: stageSpanId(traceId, stage, place),
    parentSpanId,
    name,
    kind: "internal",
    startMs,
    endMs: Math.max(startMs, msOf(to)),
    attributes: placed(from),
    error: null,
  };
}

const placed = ({ runId, taskId, epoch }: ReadRecord): Record<string, string | number> => ({
  "antiphon.run": runId,
  ...(taskId === null ? {} : { "antiphon.task": taskId, "antiphon.epoch": epoch }),
});

const coded = (code: string | null): Record<string, string> =>
  code === null ? {} : { "antiphon.code": code };

const msOf = ({ at }: ReadRecord): number => (typeof at === "string" ? Date.parse(at) : at.getTime());
