// Refuses an option that was given an empty value, as `--repo "$REPO"` does where the variable is not set. Several options mean
// something without a value, such as the repository around the current directory, and nobody meant that who named another.
import type { Command } from "commander";
import { usage } from "./failure.ts";

/** A reason is text for people, and may be left out. */
const MAY_BE_BLANK: ReadonlySet<string> = new Set(["reason"]);

/** @throws Failure ANT_USAGE */
export function refuseBlankValues(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (MAY_BE_BLANK.has(name) || command.getOptionValueSource(name) !== "cli") continue;
    const values: unknown[] = [command.getOptionValue(name)].flat();
    if (values.some((value) => typeof value === "string" && value.trim() === ""))
      throw usage(`${option.long ?? option.flags} has an empty value: ${option.flags}`);
  }
}
