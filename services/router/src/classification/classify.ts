/**
 * From a goal to a workflow, with the words that decided it.
 *
 * Order of precedence: the caller's choice, then an error signal, then plan, then review; build is the default.
 */
import type { Workflow } from "@antiphon/contracts";
import { readSignals } from "./signals.ts";
import type { Signal } from "./signals.ts";

export type Classification = {
  readonly workflow: Workflow;
  /** Quotes the words that decided. */
  readonly reason: string;
  /** 0..1; 1 only if the caller chose. */
  readonly confidence: number;
  readonly signals: readonly Signal[];
};

/** The confidence of BUILD without any signal. */
const DEFAULT_CONFIDENCE = 0.4;
/** The share of the doubt that each further agreeing word removes, and the doubt that each rival workflow adds. */
const AGREEMENT = 0.25;
const RIVALRY = 0.08;

const PRECEDENCE = ["DEBUG", "PLAN", "REVIEW", "BUILD"] as const;
const SPEAKS_OF: Record<Workflow, string> = {
  DEBUG: "an error signal",
  PLAN: "a planning signal",
  REVIEW: "a review signal",
  BUILD: "a build signal",
};

function confidenceOf(own: readonly Signal[], rivals: number): number {
  const strongest = Math.max(...own.map((signal) => signal.weight));
  const doubt = (1 - strongest) * (1 - AGREEMENT) ** (own.length - 1) + RIVALRY * rivals;
  return Math.round(Math.min(0.99, Math.max(0.3, 1 - doubt)) * 100) / 100;
}

export function classify(goal: string, chosen: Workflow | null): Classification {
  if (chosen !== null) {
    return { workflow: chosen, reason: "given by the caller", confidence: 1, signals: [] };
  }
  const signals = readSignals(goal);
  const workflow = PRECEDENCE.find((name) => signals.some((signal) => signal.workflow === name));
  if (workflow === undefined) {
    return {
      workflow: "BUILD",
      reason: "no signal found; build is the default",
      confidence: DEFAULT_CONFIDENCE,
      signals,
    };
  }
  const own = signals.filter((signal) => signal.workflow === workflow);
  // Making verbs accompany every request, so BUILD is never a rival.
  const rivals = new Set(
    signals.map((signal) => signal.workflow).filter((name) => name !== workflow && name !== "BUILD"),
  ).size;
  const words = own
    .slice(0, 4)
    .map((signal) => `"${signal.match}"`)
    .join(", ");
  return {
    workflow,
    reason: `${SPEAKS_OF[workflow]}: ${words}`,
    confidence: confidenceOf(own, rivals),
    signals,
  };
}
