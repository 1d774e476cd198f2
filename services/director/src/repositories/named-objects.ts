/** The objects of `ANT_REPOS` that a dispatch names: what its attempt, or a replay of it, reads from the store. */
import type { DispatchBody } from "@antiphon/contracts";

type Naming = Pick<DispatchBody, "base" | "history" | "environment">;

export function namedObjects({ base, history, environment }: Naming): string[] {
  return [
    base.object,
    ...(base.linked === undefined ? [] : [base.linked]),
    ...(history == null ? [] : [history.object]),
    ...(environment === undefined ? [] : [environment.source.tree]),
  ];
}

/** False: the object is a pack, which holds what may be nowhere else. */
export function canBeMadeAgain(name: string): boolean {
  return /^(tree|linked|history)-/.test(name);
}
