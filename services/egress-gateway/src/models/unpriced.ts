/** The refusal of a model call that has no known price. */
import { EgressRefusal } from "../policy/refusal.ts";

export function refused(rule: string, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_MODEL", rule, why);
}
