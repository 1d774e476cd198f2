/** A judgement, and a function that makes each kind of it. Pure. */
import type { Proves, VerdictBody } from "@antiphon/contracts";

export type Judgement = Pick<VerdictBody, "verdict" | "code" | "message"> & { proves: Proves };

type Code = NonNullable<VerdictBody["code"]>;

/** With a code, it passes because someone consented, and the code says to what. */
export function pass(proves: Proves, code: Code | null, message: string): Judgement {
  return { verdict: "PASS", code, message, proves };
}

export function fail(code: Code, message: string): Judgement {
  return { verdict: "FAIL", code, message, proves: "nothing" };
}

/** director/D5: checks that pass and fail on the same tree tell nothing about it. */
export function flaky(message: string): Judgement {
  return { verdict: "FLAKY", code: "ANT_VERIFY_FLAKY", message, proves: "nothing" };
}

export function unverifiable(proves: Proves, code: Code, message: string): Judgement {
  return { verdict: "UNVERIFIABLE", code, message, proves };
}

/** Who consents to a shortfall. Absent: nobody is asked. */
export interface Consents {
  /** People approve the change before it lands. */
  readonly people?: boolean;
  /** The caller allowed it. */
  readonly grant: boolean;
}

interface Shortfall {
  readonly proves: Proves;
  readonly code: Code;
  readonly message: string;
}

/** A change that falls short of a demand lands only if someone consents. Without that it is UNVERIFIABLE. */
export function shortfall(
  { proves, code, message }: Shortfall,
  { people = false, grant }: Consents,
): Judgement {
  if (people) return pass(proves, code, `${message}; people decide`);
  return grant ? pass(proves, code, `${message}; landed by grant`) : unverifiable(proves, code, message);
}
