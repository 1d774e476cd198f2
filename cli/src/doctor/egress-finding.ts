// The configuration of this machine's egress gateway, as far as `antiphon dev` reads one: is it one at all?
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "@antiphon/contracts/validation/validate";
import { childEnvironment } from "../config.ts";
import { ok, problem, type Finding } from "./finding.ts";

const REMEDY = "mend the file; it is read again by itself. `antiphon models list` shows what is used";

/** Null: there is no such file. */
export function egressFinding(stateDir: string): Finding | null {
  const given = childEnvironment({})["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const path = given === "" ? join(stateDir, "egress.json") : given;
  if (!existsSync(path)) return null;
  const fault = faultIn(readFileSync(path, "utf8"));
  return fault === null ? ok("models", path) : problem("models", `${path}${fault}`, REMEDY);
}

/** After the name of the file; null: it is a configuration. */
export function faultIn(text: string): string | null {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    const why = (error as Error).message;
    const at = Number(/ at position (\d+)/.exec(why)?.[1] ?? text.trimEnd().length);
    return `:${text.slice(0, at).split("\n").length} is not JSON: ${why}`;
  }
  const checked = validate("EgressConfig", document);
  if (checked.ok) return null;
  const [first] = checked.errors;
  return `: ${first?.path ?? ""} ${first?.message ?? "is not a configuration"}`;
}
