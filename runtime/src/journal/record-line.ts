import { ERRORS, RECORDS, isErrorCode } from "@antiphon/contracts";
import type { AntiphonError, StoredRecord } from "@antiphon/contracts";
import { parseTraceparent } from "@antiphon/contracts/tracing/trace-context";
import type { Logger } from "../process/logger.ts";

/**
 * Logs one line for each record that this process stored. The field names are the same in every service and are defined
 * only here: `run`, `task`, `epoch`, `seq`, and, if the record has them, `trace`, `code` and `ms`.
 */
export function logRecord(log: Logger, record: StoredRecord): void {
  if (!log.isLevelEnabled("info")) return;
  const { runId: run, taskId, epoch, seq, type } = record;
  const task = taskId === null ? {} : { task: taskId };
  const traceId = parseTraceparent(record.traceparent)?.traceId;
  const trace = traceId === undefined ? {} : { trace: traceId };
  const refused = type === "landing" && record.body.kind === "refused";
  log.info(
    { run, ...task, epoch, seq, ...trace, ...said(record) },
    refused ? "landing refused" : RECORDS[type].logged,
  );
}

function said(record: StoredRecord): Record<string, unknown> {
  switch (record.type) {
    case "intent":
      return { by: record.body.principal };
    case "routed": {
      const { workflow, confidence, reason, tasks } = record.body;
      return { workflow, confidence, reason, tasks: tasks.length };
    }
    case "claim":
      return { associate: record.body.associate };
    case "result":
      return { result: record.body.kind, ...coded("code" in record.body ? record.body.code : null) };
    case "verdict": {
      const { verdict, code, checks, asks } = record.body;
      if (asks !== undefined) return { asks: asks.length, ...coded(code) };
      const ms = Math.round(checks.reduce((sum, { durationMs }) => sum + durationMs, 0));
      return { verdict, ...coded(code), ms };
    }
    case "landing":
      if (record.body.kind === "refused") return { code: record.body.code };
      return { ref: record.body.ref, commit: record.body.commit };
    case "closed":
      return { status: record.body.status, ...coded(record.body.code) };
    case "message":
      return { by: record.body.by, to: record.body.task, attempt: record.body.attempt };
    case "control":
      return { control: record.body.kind, by: record.body.by };
    default:
      return {};
  }
}

function coded(code: string | null): { code?: string } {
  return code === null ? {} : { code };
}

/** The log level of a failure: info for a mistake of the caller, warn for everything else. */
export function levelOf({ code }: Pick<AntiphonError, "code">): "info" | "warn" {
  return isErrorCode(code) && ERRORS[code].httpStatus >= 400 && ERRORS[code].httpStatus < 500
    ? "info"
    : "warn";
}
