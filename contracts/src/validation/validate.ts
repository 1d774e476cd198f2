/**
 * Checks whether a value has the shape of its contract. Two readers share one schema: `strict` (the HTTP edge, sandbox
 * output, files of people) refuses unknown keys; `tolerant` (between services) ignores them, so that a newer writer can
 * talk to an older reader.
 *
 * Nothing is compiled at import, and a contract that is seldom used is never compiled (`shape-checks.ts`). The given value is
 * never written to: defaults go into the returned copy. A refusal names the place, the expected and the found value, and for an
 * unknown key the key that was probably meant.
 */
import { bounded, type Problem } from "./problem.ts";
import { AntiphonError } from "../errors.ts";
import { intake, isFit } from "./intake.ts";
import { registry, schemaNameOf, type ContractType, type SchemaName } from "../registry/registry.ts";
import type { Rule } from "../shapes/rule.ts";
import { describe } from "./schema-problem.ts";
import type { Reader } from "./reader-form.ts";
import { errorsOfFilled, errorsOfShape } from "./shape-checks.ts";

export type { Problem } from "./problem.ts";

export type { Reader } from "./reader-form.ts";

export type Validation<T> = { ok: true; value: T } | { ok: false; errors: Problem[] };

/** Checks a value against a contract. Never throws on bad input; throws ANT_CONTRACT_UNKNOWN on a bad name. */
export function validate<N extends SchemaName>(
  name: N,
  value: unknown,
  options: { reader?: Reader } = {},
): Validation<ContractType<N>> {
  const known = schemaNameOf(name);
  if (known === null)
    throw new AntiphonError("ANT_CONTRACT_UNKNOWN", `no contract is called ${String(name)}`);
  const taken = intake(value);
  if (!taken.ok) return refused([taken.unfit]);
  const { rules } = registry[known];
  const raw = broken(rules, taken.value, true);
  if (raw !== null) return refused([raw]);
  const errors = errorsOfFilled(known, options.reader ?? "strict", taken.value);
  if (errors !== null) return refused(describe(errors));
  const problem = broken(rules, taken.value, false);
  if (problem !== null) return refused([problem]);
  const fit = taken.value as ContractType<N>;
  return { ok: true, value: fit };
}

/**
 * Like `validate`, without the rules between fields. For stored documents whose writer was not held to the rules: a Router
 * must see a cycle to refuse it, and still needs a reliable shape.
 */
export function validateShape(
  name: SchemaName,
  value: unknown,
  reader: Reader,
): { ok: true } | { ok: false; errors: Problem[] } {
  if (!isFit(value)) {
    const taken = intake(value);
    if (!taken.ok) return refused([taken.unfit]);
  }
  const errors = errorsOfShape(name, reader, value);
  return errors === null ? { ok: true } : refused(describe(errors));
}

const refused = (problems: readonly Problem[]): { ok: false; errors: Problem[] } => ({
  ok: false,
  errors: problems.map(bounded),
});

/** The first violated rule. `raw` rules run before the shape is known to fit. */
function broken(rules: readonly Rule[], value: unknown, raw: boolean): Problem | null {
  for (const rule of rules) {
    if ((rule.raw === true) !== raw) continue;
    const problem = rule.check(value);
    if (problem !== null) return { ...problem, rule: rule.id };
  }
  return null;
}

/** Like `validate`, but throws a refusal as `code` with the first problem as text. */
export function assertValid<N extends SchemaName>(
  name: N,
  value: unknown,
  options: { reader?: Reader; code?: "ANT_CONTRACT_INVALID" | "ANT_INTENT_INVALID" } = {},
): ContractType<N> {
  const result = validate(name, value, options);
  if (result.ok) return result.value;
  const [first] = result.errors;
  const where = first?.path === undefined || first.path === "" ? "the document" : first.path;
  throw new AntiphonError(
    options.code ?? "ANT_CONTRACT_INVALID",
    `${name}: ${where}: ${first?.message ?? "invalid"}${first?.hint === undefined ? "" : ` (${first.hint})`}`,
    { data: { schema: registry[name].id, errors: result.errors } },
  );
}
