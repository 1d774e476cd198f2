// A run on record, as a policy judges it again: later, by another policy, or when a person approves its change. Pure.
import type { Intent, RunOptions } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import type { KnownChange } from "./policy.ts";

export interface PastRun {
  readonly intent: Intent;
  readonly options: RunOptions;
  /** Who asked for the run. */
  readonly principal: string;
  readonly repo: { readonly name: string; readonly path: string };
  /** What its attempts changed. The records hold the paths, not the number of lines. */
  readonly changes: readonly KnownChange[];
}

/** Null: the run has no intent record. */
export function pastRun({ intent: body, tasks }: RunFacts): PastRun | null {
  if (body === null) return null;
  const { intent, options, principal, base } = body;
  const changes = (tasks ?? []).flatMap(({ attempts }): KnownChange[] => {
    const result = attempts.at(-1)?.result ?? null;
    if (result?.kind !== "reported" || result.result.files_changed.length === 0) return [];
    const paths = result.result.files_changed;
    return [{ files: paths.length, lines: 0, paths }];
  });
  return { intent, options, principal, repo: base.repo, changes };
}
