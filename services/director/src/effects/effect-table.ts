/**
 * What each kind of effect does, and the record that says it happened. Nothing is appended here.
 *
 * A new kind begins in `Effect` and `outstanding` (run/src/owed); the compiler then asks for its line here and for its
 * refusal in refusal.ts.
 */
import type { Cause, NewRecord } from "@antiphon/contracts";
import { closingOf, type Effect, type EffectOf, type RunState } from "@antiphon/run";
import { land, landIntegration } from "../landing/landing.ts";
import type { RacePorts } from "../landing/race.ts";
import type { PoisonLettersPort } from "../ports.ts";
import { verifyIntegration } from "../verification/integration.ts";
import { verify, type VerificationPorts } from "../verification/verification.ts";
import { dispatch } from "./dispatch.ts";
import { fitClosing, fitDispatch, fitVerdict } from "./fitting.ts";

export type EffectPorts = VerificationPorts & { letters: PoisonLettersPort } & Pick<RacePorts, "journal">;

/** A record without its place in a run. */
type Content<R extends NewRecord = NewRecord> = R extends NewRecord ? Pick<R, "type" | "body"> : never;
type Work<K extends Effect["kind"]> = (
  run: RunState,
  effect: EffectOf<K>,
  ports: EffectPorts,
  signal: AbortSignal,
) => Promise<Content>;

const EFFECTS: { readonly [K in Effect["kind"]]: Work<K> } = {
  dispatch: async (run, effect, ports, signal) => {
    return { type: "dispatch", body: fitDispatch(await dispatch(run, effect, ports, signal)) };
  },
  verify: async (run, effect, ports, signal) => {
    return { type: "verdict", body: fitVerdict(await verify(run, effect, ports, signal)) };
  },
  land: async (run, effect, ports) => {
    return { type: "landing", body: await land(run, effect, ports) };
  },
  "verify-integration": async (run, effect, ports, signal) => {
    return { type: "verdict", body: fitVerdict(await verifyIntegration(run, effect, ports, signal)) };
  },
  "land-integration": async (run, effect, ports) => {
    return { type: "landing", body: await landIntegration(run, effect, ports) };
  },
  close: async (run, { poisoned }, { letters }) => {
    for (const task of poisoned) await letters.bury(run.runId, task);
    return { type: "closed", body: fitClosing(closingOf(run)) };
  },
};

/** Carries out an effect. */
export type Perform = (
  run: RunState,
  effect: Effect,
  cause: Cause,
  signal: AbortSignal,
) => Promise<NewRecord>;

export function performOver(ports: EffectPorts): Perform {
  return async (run, effect, cause, signal) => {
    const work = EFFECTS[effect.kind] as Work<Effect["kind"]>;
    const { taskId, epoch } = effect;
    return { runId: run.runId, taskId, epoch, cause, ...(await work(run, effect, ports, signal)) };
  };
}
