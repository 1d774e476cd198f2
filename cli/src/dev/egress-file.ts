// The configuration of the egress gateway that `antiphon dev` starts: a file that `antiphon models` changes.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../config.ts";
import { createWhole } from "../keys/whole-file.ts";

/** The file of the caller's environment, or one in the state directory, which is made if it is missing. */
export function egressFile(dir: string): string {
  const given = childEnvironment({})["ANTIPHON_EGRESS_CONFIG"] ?? "";
  if (given !== "") return given;
  const own = join(dir, "egress.json");
  mkdirSync(dir, { recursive: true });
  createWhole(own, () => "{}\n", 0o600);
  return own;
}
