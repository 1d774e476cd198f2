// Turns a document that violates its contract into one error with the path of the first problem. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { Problem } from "@antiphon/contracts";

export function malformed(
  code: "ANT_INTENT_INVALID" | "ANT_CONTRACT_INVALID" | "ANT_POLICY_INVALID",
  problems: readonly Problem[],
  under = "",
): AntiphonError {
  const [problem] = problems;
  const path = `${under}${problem?.path ?? ""}`;
  const where = path === "" ? "the document" : path;
  const hint = problem?.hint === undefined ? "" : `; ${problem.hint}`;
  const message = `${where}: ${problem?.message ?? "not valid"}, found ${problem?.found ?? "something else"}${hint}`;
  return new AntiphonError(code, message, { data: { path, errors: problems } });
}
