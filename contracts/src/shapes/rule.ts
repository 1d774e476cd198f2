/** A rule that a shape cannot express: named, tested, and shown by `antiphon explain`. */
import type { Problem } from "../validation/problem.ts";

export type Rule = {
  /** `<contract>/<condition>`. */
  readonly id: string;
  /** The rule in one sentence. */
  readonly says: string;
  /** `raw` rules run before the shape is checked, so that they can say more than "unknown key". */
  readonly raw?: true;
  /** null if it holds. The value has the contract's shape, unless the rule is `raw`. */
  readonly check: (value: unknown) => Problem | null;
};

/** The same rules for a part of a larger document. If `part` returns null, the part is absent. */
export function within(path: string, rules: readonly Rule[], part: (value: unknown) => unknown): Rule[] {
  return rules.map(({ id, says, check, raw }) => ({
    id,
    says,
    ...(raw === undefined ? {} : { raw }),
    check: (value) => {
      const inner = part(value);
      if (inner === null || inner === undefined) return null;
      const problem = check(inner);
      return problem === null ? null : { ...problem, path: `${path}${problem.path}` };
    },
  }));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of a value of unknown type. */
export function member(value: unknown, ...names: string[]): unknown {
  let current = value;
  for (const name of names) {
    if (!isRecord(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}
