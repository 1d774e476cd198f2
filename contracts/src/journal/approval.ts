/**
 * `approval`: what a person decided about a verified change before it lands. A run's approvals are numbered, so that the
 * words of different people never meet in one register, and each is stored by somebody who has read those before it.
 */
import { Type, type Static } from "typebox";
import { Digest, Epoch, TaskId } from "../shapes/ids.ts";
import { closed, oneOf } from "../shapes/shape.ts";

/** What a person may say where an approval is asked for. */
export const CHOICES = ["approve", "reject", "changes"] as const;

export const Choice = oneOf([...CHOICES], {
  description:
    "approve: it may land. reject: it never lands. changes: another attempt, with the reason as feedback.",
});
export type Choice = (typeof CHOICES)[number];

export const ApprovalBody = closed(
  {
    task: TaskId,
    attempt: Epoch,
    verdict: Type.Unsafe<Digest>({
      ...Digest,
      description:
        "Digest of the `verdict` record that was decided on: it names commit, checks and evidence.",
    }),
    choice: Choice,
    by: Type.String({ minLength: 1, maxLength: 256 }),
    reason: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  {
    description:
      "A person decided about a verified change. The epoch counts a run's approvals: 1, 2, ... Written by the gateway.",
  },
);
export type ApprovalBody = Static<typeof ApprovalBody>;

export function isChoice(text: string | undefined): text is Choice {
  return (CHOICES as readonly (string | undefined)[]).includes(text);
}

/** Names that stand for everybody who can reach the gateway, not for one person. */
const SHARED = /^(local|token|session:.*)$/;

export function isSharedPrincipal(principal: string): boolean {
  return SHARED.test(principal);
}

/**
 * Whether somebody's approval counts. Nobody approves what he asked for himself. Where the request came in under a
 * shared name nobody can tell who asked, so everybody counts.
 */
export function mayApprove(by: string, requester: string): boolean {
  if (isSharedPrincipal(requester)) return true;
  return by !== requester && !isSharedPrincipal(by);
}
