// Whether a run waits for somebody's approval before it lands. Pure.
import type { RunOptions } from "@antiphon/contracts";

/** No option of a run asks for an approval, so a profile that demands one refuses. An option that does is read here. */
export function asksApproval(_options: RunOptions): boolean {
  return false;
}
