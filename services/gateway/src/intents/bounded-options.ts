// Checks the options that a schema cannot bound: names that reach git, and globs that are matched with every path of a
// change. A small intent could stall a Director with either. Pure.
import { AntiphonError, globFault, isRefName, modelHostIn } from "@antiphon/contracts";
import type { RunOptions } from "@antiphon/contracts";

const NAMES = { base_ref: "a branch, a tag or a commit id", land_on: "a name a branch can have" } as const;

/** @throws AntiphonError ANT_INTENT_OPTIONS with the path of the first option that exceeds its bound */
export function checkBounds(options: RunOptions): void {
  for (const key of ["base_ref", "land_on"] as const) {
    const name = options[key];
    if (name === undefined || isRefName(name)) continue;
    throw invalid(
      key,
      `must be ${NAMES[key]}, not an expression; found ${JSON.stringify(name.slice(0, 80))}`,
    );
  }
  for (const key of ["scope", "grants"] as const) {
    const fault = globFault(options[key]);
    if (fault !== null) throw invalid(key, fault);
  }
  if (options.race !== undefined && (options.tasks?.length ?? 1) > 1)
    throw invalid("race", "a race is about one task, and the run has several");
  checkHosts(options);
  checkMetered(options);
}

const NAME = /^(?:\*\.)?(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+((?!-)[a-z0-9-]{1,63}(?<!-))(?::[1-9]\d{0,4})?$/i;

/** The egress gateway refuses such an entry as well, but only once an attempt runs, and each attempt anew. */
function checkHosts({ egress }: RunOptions): void {
  for (const [at, entry] of (egress?.allowlist ?? []).entries()) {
    const last = NAME.exec(entry)?.[1];
    if (last !== undefined && !/^(?:\d+|0x[0-9a-f]*)$/i.test(last)) continue;
    const path = `/constraints/egress/allowlist/${at}`;
    const why = `must be the name of a host, such as example.org, *.example.org or example.org:8443; found ${JSON.stringify(entry.slice(0, 80))}`;
    throw new AntiphonError("ANT_INTENT_OPTIONS", `${path}: ${why}`, { data: { path } });
  }
}

/** A host that is both paid for and allowed would be reached without being metered where the gateway has no prices for it. */
function checkMetered({ model_budget, egress }: RunOptions): void {
  if (model_budget === undefined) return;
  for (const [at, entry] of (egress?.allowlist ?? []).entries()) {
    const host = modelHostIn(entry);
    if (host === null) continue;
    const path = `/constraints/egress/allowlist/${at}`;
    const why = `a model budget opens ${host} by itself and meters it; leave it out of the allowlist`;
    throw new AntiphonError("ANT_INTENT_OPTIONS", `${path}: ${why}`, { data: { path } });
  }
}

function invalid(key: string, message: string): AntiphonError {
  const path = `/inputs/${key}`;
  return new AntiphonError("ANT_INTENT_OPTIONS", `${path}: ${message}`, { data: { path } });
}
