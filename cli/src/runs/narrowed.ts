/** Tells which budgets of a run that is retried or forked the policy has narrowed since. Pure. */
import type { PostAnswer } from "@antiphon/client";

type Narrowed = NonNullable<PostAnswer<"/runs/{id}/retry">["narrowed"]>;

/** Null: none. */
export function narrowedText(narrowed: Narrowed = []): string | null {
  if (narrowed.length === 0) return null;
  const each = narrowed.map(({ budget, was, is }) => `${budget} ${is} instead of ${was}`);
  return `the policy allows less than then: ${each.join(", ")}`;
}
