/** The objects of `ANT_REPOS` that a dispatch names: what its attempt, or a replay of it, reads from the store. */
import { keys, type DispatchBody } from "@antiphon/contracts";
import { stepNamed } from "@antiphon/git";

type Naming = Pick<DispatchBody, "base" | "history" | "environment">;

export function namedObjects({ base, history, environment }: Naming): string[] {
  return [
    ...objectsBehind(base.object),
    ...(base.linked === undefined ? [] : [base.linked]),
    ...(history == null ? [] : [history.object]),
    ...(environment === undefined ? [] : objectsBehind(environment.source.tree)),
  ];
}

/** A step is of no use without the tree that it starts from. */
export function objectsBehind(object: string): string[] {
  const step = stepNamed(object);
  return step === null ? [object] : [object, keys.tree(step.from)];
}

/** False: the object is a pack, which holds what may be nowhere else. */
export function canBeMadeAgain(name: string): boolean {
  return /^(tree|step|linked|history)-/.test(name);
}
