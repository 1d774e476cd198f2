/** Applies the change of a task, tries it in the clean rooms and judges it; or says why it was not tried. */
import { AntiphonError, type EnvironmentReport } from "@antiphon/contracts";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import { EnvironmentFailed } from "../environments/environment-failed.ts";
import type { AppliedChange } from "../ports.ts";
import { applied } from "./applying.ts";
import { checksOf } from "./checks-of.ts";
import { deliveryOf, type Delivery } from "./delivery.ts";
import { demandOf } from "./demand.ts";
import { judge } from "./judge.ts";
import type { Judgement } from "./judgement.ts";
import type { TriedOut } from "./tried-out.ts";
import { trialOf } from "./trial-of.ts";
import { tried } from "./trying.ts";
import type { VerificationPorts } from "./verification.ts";

/** The change was not tried, or a setup that it needs failed. */
export interface Refused {
  readonly kind: "refused";
  readonly code: string;
  readonly message: string;
  /** The environment whose setup failed. */
  readonly environment?: EnvironmentReport | null;
}

export interface Examined {
  readonly kind: "tried";
  /** Null: a task that may leave the files as they are, and did. */
  readonly change: AppliedChange | null;
  readonly delivery: Exclude<Delivery, { kind: "refused" }> | null;
  readonly outcome: TriedOut;
  readonly judgement: Judgement;
}

export async function examined(
  run: RunState,
  effect: EffectOf<"verify">,
  ports: VerificationPorts,
  signal: AbortSignal,
): Promise<Refused | Examined> {
  const { base, options } = intentOf(run);
  const checks = await checksOf(effect.task, base, ports.repository, options);
  const change = await applied(run, effect, checks, ports); // director/D4: head, patch and checks are all that counts
  if (change?.kind === "refused") return change;
  const delivery = await deliveryOf(run, effect, ports);
  if (delivery?.kind === "refused") return delivery;
  const known = { change, checks: checks.commands, demand: demandOf(run, effect.task), delivery };
  const judged = (outcome: TriedOut): Judgement => judge(trialOf(run, effect.task, known, outcome));
  const needsEmptied = (outcome: TriedOut): boolean => {
    const { verdict, code } = judged(outcome);
    return verdict === "PASS" ? code === null : code === "ANT_VERIFY_UNTESTED";
  };
  const outcome = await tried(run, effect, { ...known, needsEmptied }, ports, signal);
  if (outcome instanceof AntiphonError) {
    const environment = outcome instanceof EnvironmentFailed ? outcome.report : null;
    return { kind: "refused", code: outcome.code, message: outcome.detail, environment };
  }
  return { kind: "tried", change, delivery, outcome, judgement: judged(outcome) };
}
