/** Finds the contract of a file: by its schema comment, else its name, else its keys. */
import { Refusal, START } from "./document-text.ts";
import { findContract } from "../reference/explain.ts";
import { registry, SCHEMA_NAMES, type SchemaName } from "../registry/registry.ts";

const BY_NAME: readonly [RegExp, SchemaName][] = [
  [/(^|\/)tasks\/T-[^/]+\.ya?ml$/, "TaskContract"],
  [/(^|\/)evidence\/.*manifest\.json$/, "EvidenceManifest"],
  [/(^|\/)io_schema\.json$/, "SkillIoSchema"],
  [/(^|\/)antiphon\.ya?ml$/, "ProjectFile"],
  [/(^|\/)plan\.ya?ml$/, "PlanFile"],
  [/(^|\/)findings\.json$/, "Findings"],
  [/(^|\/)qa\.json$/, "QaReport"],
];

/** What the name of a file says about its contract, also if its text cannot be read. */
export function kindByName(filename: string): SchemaName | null {
  return BY_NAME.find(([pattern]) => pattern.test(filename.replaceAll("\\", "/")))?.[1] ?? null;
}

/** Throws Refusal if none of these tells. */
export function kindOf(text: string, filename: string, value: unknown): SchemaName {
  const comment = /^#\s*yaml-language-server:\s*\$schema=(\S+)/m.exec(text)?.[1];
  if (comment !== undefined) return findContract(comment.replace(/^.*\//, "").replace(/\.json$/, ""));
  const named = kindByName(filename);
  if (named !== null) return named;
  const found = byKeys(value);
  if (found !== null) return found;
  const expected = "--schema <name>, or a first line `# yaml-language-server: $schema=.../<id>.json`";
  throw new Refusal(
    START,
    "cannot tell which contract this file follows",
    expected,
    "no schema comment and no known keys",
  );
}

/** The contract that knows most of the keys and misses fewest; null if two fit equally well. */
function byKeys(value: unknown): SchemaName | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const keys = Object.keys(value);
  const ranked = SCHEMA_NAMES.flatMap((name) => {
    const { properties, required = [] } = registry[name].schema as {
      properties?: object;
      required?: string[];
    };
    if (properties === undefined) return [];
    const known = keys.filter((key) => Object.hasOwn(properties, key)).length;
    const missing = required.filter((key) => !keys.includes(key)).length;
    return [{ name, score: 2 * known - missing - (keys.length - known), known }];
  }).sort((a, b) => b.score - a.score);
  const [first, second] = ranked;
  if (first === undefined || first.known === 0 || first.score <= 0 || first.score === second?.score)
    return null;
  return first.name;
}
