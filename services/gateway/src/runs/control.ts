// Reads whether a run is paused from its records, and the reason from a pause or resume request. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { ControlBody, StoredRecord } from "@antiphon/contracts";

/** The number of the last control record and the state it set. A run without one is not paused. */
export function lastControl(records: readonly StoredRecord[]): { n: number; kind: ControlBody["kind"] } {
  let last: { n: number; kind: ControlBody["kind"] } = { n: 0, kind: "resume" };
  for (const record of records) {
    if (record.type === "control" && record.epoch > last.n)
      last = { n: record.epoch, kind: record.body.kind };
  }
  return last;
}

/** `{reason?}`, or no body at all. */
export function controlReason(body: unknown): string {
  if (body === undefined || body === null) return "";
  if (typeof body !== "object" || Array.isArray(body)) throw invalid("", "must be an object or absent");
  const fields: Record<string, unknown> = { ...body };
  const stranger = Object.keys(fields).find((key) => key !== "reason");
  if (stranger !== undefined) throw invalid(`/${stranger}`, "unknown field; only `reason` is allowed");
  const { reason = "" } = fields;
  if (typeof reason === "string" && reason.length <= 2048) return reason;
  throw invalid("/reason", "must be a text of at most 2048 characters");
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_CONTRACT_INVALID", `${path === "" ? "the body" : path}: ${message}`, {
    data: { path },
  });
}
