/**
 * All limits, each with its unit, its reason and the behaviour at the limit. A name ends in its unit.
 * docs/reference/limits.md is generated from this table.
 */
import { attempts } from "./limits/attempts.ts";
import { egress } from "./limits/egress.ts";
import { people } from "./limits/people.ts";
import { records } from "./limits/records.ts";
import { repositories } from "./limits/repositories.ts";
import { sandboxes } from "./limits/sandboxes.ts";
import { verification } from "./limits/verification.ts";

const TABLE = {
  ...records,
  ...attempts,
  ...sandboxes,
  ...verification,
  ...egress,
  ...repositories,
  ...people,
};

export type LimitName = keyof typeof TABLE;

/** The values by name. */
export const limits: { readonly [L in LimitName]: number } = Object.fromEntries(
  Object.entries(TABLE).map(([name, row]) => [name, row[0]]),
) as { [L in LimitName]: number };

export type LimitEntry = { name: LimitName; value: number; unit: string; reason: string; atTheBound: string };

/** The table with its texts, for the reference page. */
export const LIMITS: readonly LimitEntry[] = (Object.keys(TABLE) as LimitName[]).map((name) => {
  const [value, unit, reason, atTheBound] = TABLE[name];
  return { name, value, unit, reason, atTheBound };
});
