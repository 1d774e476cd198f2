/**
 * Seed 004's documentation discipline: a changed shape needs a new version and a dated entry with the reason. Released
 * shapes stay unchanged; their descriptions may change.
 */
import { isDeepStrictEqual } from "node:util";
import { shapeOnly } from "../src/registry/json-schema.ts";
import type { Release } from "./release.ts";

/** Ids of released contracts that are gone or accept other documents than at their release. */
export function changedShapes(release: Release, current: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(release.contracts)
    .filter(([id, { schema }]) => !isDeepStrictEqual(shapeOnly(schema), shapeOnly(current[id])))
    .map(([id]) => id);
}

/** Ids without an entry under a dated heading: "- `Id.v0`, `Other.v1`: reason." */
export function undocumented(changelog: string, ids: readonly string[]): string[] {
  const documented = new Set<string>();
  let dated = false;
  for (const line of changelog.split("\n")) {
    if (line.startsWith("#")) dated = /^## \d{4}-\d{2}-\d{2}\b/.test(line);
    const entry = /^- ((?:`[\w.]+`(?:, )?)+): (.{10,})$/.exec(line);
    if (!dated || entry === null) continue;
    for (const [, id] of entry[1]?.matchAll(/`([\w.]+)`/g) ?? []) documented.add(id ?? "");
  }
  return ids.filter((id) => !documented.has(id));
}
