/** What every refused HTTP request gets: a problem document (RFC 9457) that agrees with itself. */
import { isErrorCode } from "@antiphon/contracts";

/** Null: an answer below 400, or a problem document; otherwise what is wrong with it. */
export function faultOfProblem(
  status: number,
  contentType: string | null | undefined,
  body: Record<string, unknown>,
): Error | null {
  if (status < 400) return null;
  const { type, title, detail, code, remedy, error = {} } = body;
  const older = error as Record<string, unknown>;
  const faults = [
    !/^application\/problem\+json\b/.test(contentType ?? "") && `its type is ${contentType}`,
    (typeof code !== "string" || !isErrorCode(code)) && "no code of the table",
    type !== `urn:antiphon:error:${String(code)}` && "type is not the code's",
    body["status"] !== status && "status is another one",
    (typeof title !== "string" || title === "") && "no title",
    (typeof detail !== "string" || detail === "") && "no detail",
    (typeof remedy !== "string" || remedy === "") && "no remedy",
    (older["code"] !== code || older["message"] !== detail || older["remedy"] !== remedy) &&
      "`error` says something else",
    code === "ANT_POLICY_REFUSED" &&
      ["profile", "rule", "value"].some((name) => body[name] === undefined) &&
      "a refusal by policy names profile, rule and value",
  ].filter((fault) => fault !== false);
  if (faults.length === 0) return null;
  return new Error(`no problem document (${faults.join("; ")}): ${status} ${JSON.stringify(body)}`);
}
