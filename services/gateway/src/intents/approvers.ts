// Refuses a run that demands more approvals than this deployment has eligible approvers. Pure.
import { AntiphonError, isSharedPrincipal, mayApprove } from "@antiphon/contracts";
import type { PolicyBounds, RunOptions } from "@antiphon/contracts";

interface Demand {
  readonly path: string;
  readonly needed: number;
}

/**
 * A gate of the policy counts if every change is behind it; whether a change touches the paths of another one is not known yet.
 * @throws AntiphonError ANT_INTENT_OPTIONS if more people must approve than this deployment can tell apart
 */
export function checkApprovers(
  options: Pick<RunOptions, "approvals" | "tasks">,
  requester: string,
  people: readonly string[],
  policy?: PolicyBounds,
): void {
  const known = isSharedPrincipal(requester) ? [...people, requester] : people;
  const eligible = known.filter((person) => mayApprove(person, requester)).length;
  const unmet = demands(options, policy).find(({ needed }) => needed > eligible);
  if (unmet === undefined) return;
  const { path, needed } = unmet;
  const message = `${path}: ${needed} ${needed === 1 ? "person has" : "people have"} to approve, but this deployment knows only ${eligible} beside the requester; each needs a token of their own (ANTIPHON_TOKENS)`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path, needed, eligible } });
}

function demands(
  { approvals, tasks = [] }: Pick<RunOptions, "approvals" | "tasks">,
  policy?: PolicyBounds,
): Demand[] {
  const byRun =
    approvals === undefined ? [] : [{ path: "/constraints/approvals/needed", needed: approvals.needed }];
  const byTasks = tasks.flatMap(({ approvals: asked }, i) =>
    asked === undefined ? [] : [{ path: `/inputs/tasks/${i}/approvals/needed`, needed: asked.needed }],
  );
  const byPolicy = (policy?.gates ?? []).flatMap(
    ({ name, paths, skill, needed = skill === undefined ? 1 : 0 }) =>
      paths === undefined && needed > 0 ? [{ path: `gate ${name} of the policy`, needed }] : [],
  );
  return [...byRun, ...byTasks, ...byPolicy];
}
