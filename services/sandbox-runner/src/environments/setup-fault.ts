/** A fault of the repository in its setup: a command that fails, a tool that the image lacks, more than the bounds. */
import type { EgressReport } from "@antiphon/contracts";
import { endingOfDeath } from "../jobs/ending.ts";
import { SandboxDied } from "../ports.ts";
import { Refusal } from "../workspace/refusal.ts";

export class SetupFault extends Error {
  override readonly name = "SetupFault";
  readonly egress: EgressReport | null;

  constructor(message: string, egress: EgressReport | null = null) {
    super(message);
    this.egress = egress;
  }
}

/** A download that was refused or failed is the likeliest cause of a setup that failed, and no package manager names it. */
function lostDownloads({ refused, requests, first_refused, first_failed }: EgressReport): string {
  if (refused === 0) return first_failed === undefined ? "" : `; a request of it failed: ${first_failed}`;
  const first = first_refused === undefined ? "" : `, first ${first_refused}`;
  return `; the egress gateway refused ${refused} of its ${requests} requests${first}`;
}

/** The fault of the repository in an error; any other error is returned as it is. */
export function faultOf(error: unknown, egress: EgressReport): unknown {
  if (error instanceof SetupFault) return new SetupFault(`${error.message}${lostDownloads(egress)}`, egress);
  if (error instanceof Refusal) return new SetupFault(error.message, egress);
  if (!(error instanceof SandboxDied)) return error;
  const { kind } = error.death;
  if (kind !== "timeout" && kind !== "oom" && kind !== "output") return error;
  return new SetupFault(`setup: ${endingOfDeath(error.death, null).message}`, egress);
}
