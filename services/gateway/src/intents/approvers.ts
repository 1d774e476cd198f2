// Refuses a run that demands more approvals than this deployment has eligible approvers. Pure.
import { AntiphonError, isSharedPrincipal, ownerOf } from "@antiphon/contracts";
import type { PolicyBounds, RunOptions } from "@antiphon/contracts";

interface Demand {
  readonly path: string;
  readonly needed: number;
}

/**
 * `askers`: who asks for the run, and whose answers it takes over. A gate of the policy counts if every change is behind it; whether a change touches the paths of another one is not known yet.
 * @throws AntiphonError ANT_INTENT_OPTIONS if more people must approve than this deployment can tell apart
 */
export function checkApprovers(
  options: Pick<RunOptions, "approvals" | "tasks">,
  [requester, ...answered]: readonly [string, ...string[]],
  people: readonly string[],
  policy?: PolicyBounds,
): void {
  const known = isSharedPrincipal(requester) ? [...people, requester] : people;
  const eligible = known.filter((person) => ownerOf(person, [requester, ...answered]) === undefined).length;
  const unmet = demands(options, policy).find(({ needed }) => needed > eligible);
  if (unmet === undefined) return;
  const { path, needed } = unmet;
  const besides =
    answered.length === 0 ? "the requester" : "the requester and those whose answers the run takes over";
  const message = `${path}: ${needed} ${needed === 1 ? "person has" : "people have"} to approve, but this deployment knows only ${eligible} beside ${besides}; each needs a token of their own (ANTIPHON_TOKENS)`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, {
    data: { path, needed, eligible },
    remedy:
      eligible === 0 || !path.startsWith("/")
        ? GIVE_TOKENS
        : `Ask for at most ${eligible}, or add people. ${GIVE_TOKENS}`,
  });
}

const GIVE_TOKENS =
  "Start the gateway (on one machine `antiphon dev`) with ANTIPHON_TOKEN=<secret> ANTIPHON_TOKENS=ann:<secret>,ben:<secret>, a token for each who approves; each approves with ANTIPHON_TOKEN set to their own (docs/guides/approvals.md).";

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
