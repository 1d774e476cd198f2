// What the records say about a run being held, and what a request says about why. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { ControlBody, StoredRecord } from "@antiphon/contracts";

/** The number of the last control and the state it left; a run nobody ever held goes on by itself. */
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
  const { reason = "", ...rest } = typeof body === "object" ? body : { body };
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined || Array.isArray(body)) {
    const path = `/${stranger ?? ""}`;
    throw new AntiphonError("ANT_CONTRACT_INVALID", `${path}: only a reason can be given`, {
      data: { path },
    });
  }
  if (typeof reason === "string" && reason.length <= 2048) return reason;
  const data = { path: "/reason" };
  throw new AntiphonError("ANT_CONTRACT_INVALID", "/reason: must be a text of at most 2048 characters", {
    data,
  });
}
