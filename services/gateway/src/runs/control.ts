// Reads the reason from a pause or resume request. Pure.
import { AntiphonError } from "@antiphon/contracts";

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
