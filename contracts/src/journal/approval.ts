/**
 * `approval`: a person's decision about a verified change before it lands. Approvals are numbered by the run, so those of
 * different people use different registers, and each writer has read the earlier ones.
 */
import { Type, type Static } from "typebox";
import { Digest, Epoch, TaskId } from "../shapes/ids.ts";
import { closed, oneOf } from "../shapes/shape.ts";

/** The possible decisions. */
export const CHOICES = ["approve", "reject", "changes"] as const;

export const Choice = oneOf([...CHOICES], {
  description:
    "approve: the change may land. reject: it never lands. changes: another attempt follows, with the reason as feedback.",
});
export type Choice = (typeof CHOICES)[number];

export const ApprovalBody = closed(
  {
    task: TaskId,
    attempt: Epoch,
    verdict: Type.Unsafe<Digest>({
      ...Digest,
      description:
        "Digest of the `verdict` record that the decision is about; it names commit, checks and evidence.",
    }),
    choice: Choice,
    by: Type.String({ minLength: 1, maxLength: 256 }),
    reason: Type.Optional(Type.String({ maxLength: 2048 })),
  },
  {
    description:
      "A person's decision about a verified change. The epoch counts the approvals of a run: 1, 2, ... Written by the gateway.",
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
 * Whether an approval counts. People cannot approve what they asked for themselves. If the request came in under a shared
 * name, its requester is unknown, so every approval counts.
 */
export function mayApprove(by: string, requester: string): boolean {
  if (isSharedPrincipal(requester)) return true;
  return by !== requester && !isSharedPrincipal(by);
}

/** The one of these people whose own work `by` would approve, so the approval does not count. Undefined: there is none. */
export function ownerOf(by: string, askers: readonly string[]): string | undefined {
  return askers.find((asker) => !mayApprove(by, asker));
}
