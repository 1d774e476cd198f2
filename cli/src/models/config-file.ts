// The configuration file of this machine's egress gateway: read and written as a whole, or left as it was.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { EgressConfig } from "@antiphon/contracts";
import { validate } from "@antiphon/contracts/validation/validate";
import { Failure, usage } from "../failure.ts";

/** `path`: as the egress gateway names it; null: it has no file. Throws if it is not on this machine. */
export function readConfig(path: string | null): { readonly path: string; readonly config: EgressConfig } {
  if (path === null || !existsSync(path)) {
    const why = path === null ? "has no configuration file" : `reads ${path}, which is not on this machine`;
    throw new Failure("ANT_CONFIG_INVALID", `the egress gateway ${why}`, {
      remedy: "edit the file that ANTIPHON_EGRESS_CONFIG names where that gateway runs",
    });
  }
  try {
    return { path, config: JSON.parse(readFileSync(path, "utf8")) as EgressConfig };
  } catch (error) {
    throw new Failure("ANT_CONFIG_INVALID", `${path}: ${(error as Error).message}`, {
      remedy: "mend the file; it has to be JSON",
    });
  }
}

/** Throws ANT_USAGE, and writes nothing, if the configuration is not valid. */
export function writeConfig(path: string, config: EgressConfig): void {
  const checked = validate("EgressConfig", config);
  if (!checked.ok) {
    const [first] = checked.errors;
    throw usage(
      `${first?.path ?? ""} ${first?.message ?? "is not a configuration"}`,
      "`antiphon explain EgressConfig` shows all fields",
    );
  }
  const next = `${path}.next`;
  writeFileSync(next, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, path);
}
