/** One run as a pure function of its records: its state, outstanding effects, view, and faults. */
export { measurementsOf, type Measurement } from "./measure/measurements.ts";
export { causeChain } from "./audit/cause-chain.ts";
export { type JournalFault } from "./audit/journal-fault.ts";
export { lostLanding } from "./audit/lost-landing.ts";
export { proveRun } from "./audit/run-proof.ts";
export { factsOf, foldFacts } from "./facts/facts-fold.ts";
export { type RunSnapshot, openRun, replay } from "./machine/replay.ts";
export { closingOf, runBranch } from "./owed/closing.ts";
export { type Effect, type EffectOf, type PoisonedTask, effectKey, outstanding } from "./owed/outstanding.ts";
export { type TimerBounds, type DueStep, timersOf, dueStep } from "./owed/timers.ts";
export { allowsUnverified } from "./state/allows-unverified.ts";
export { changeFor, judgedChange, type JudgedChange } from "./state/judged-change.ts";
export { intentOf } from "./state/intent-of.ts";
export { askedOf, isPaused, provenBy, timeOf, type RunFacts } from "./facts/run-facts.ts";
export {
  type TaskPhase,
  type TaskState,
  type Integration,
  type RunState,
  type RunPolicy,
} from "./state/run-state.ts";
export { contractOf, routerContract, taskContract } from "./view/projection.ts";
export { traceOf } from "./trace/run-trace.ts";
export { runView } from "./view/run-view.ts";
