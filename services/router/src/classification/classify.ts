/**
 * From a goal to a workflow, with the reason.
 *
 * Three tiers, in order: the caller's choice; a workflow that the goal names outright; a small linear model over words,
 * pieces of words and cues of many languages. The model's confidence is calibrated, and a low one is marked unsure.
 */
import type { RouteAlternative, RouteTier, Workflow } from "@antiphon/contracts";
import { explicitWorkflow } from "./explicit.ts";
import { features, saysNothing } from "./features.ts";
import { decodeModel, reasonsFor, scoresOf, shares } from "./linear-model.ts";
import type { LinearModel } from "./linear-model.ts";
import file from "./model.json" with { type: "json" };
import { SHAPE_SIGNS } from "./shape-signs.ts";
import { WORKFLOWS } from "./workflows.ts";

export type Classification = {
  readonly workflow: Workflow;
  /** What decided, in words: parts of the goal are quoted. */
  readonly reason: string;
  /** 0..1, how often such a decision is right; 1 if a person named the workflow. */
  readonly confidence: number;
  readonly tier: RouteTier;
  /** The decision may well be wrong; the first of the alternatives is the next best. */
  readonly unsure: boolean;
  /** The other workflows, the likeliest first. Empty if a person named one. */
  readonly alternatives: readonly RouteAlternative[];
};

const MODEL = decodeModel(file);
const MOST_REASONS = 4;
const LONGEST_QUOTE = 40;

const named = (tier: RouteTier, workflow: Workflow, reason: string): Classification => ({
  workflow,
  reason,
  confidence: 1,
  tier,
  unsure: false,
  alternatives: [],
});

const SIGNS = new Set(SHAPE_SIGNS.map(({ name }) => name));

/** To two places; 1 is for what a person named. */
const rounded = (share: number): number => Math.min(0.99, Math.round(share * 100) / 100);
const quoted = (words: string): string =>
  `"${words.length > LONGEST_QUOTE ? `${words.slice(0, LONGEST_QUOTE - 3).toWellFormed()}...` : words}"`;

/** A word or two of which the cues know none say nothing about the workflow. */
const LEAST_WORDS = 3;
const SAYS_NOTHING: Classification = {
  workflow: "BUILD",
  reason: "the goal says too little; build is the default",
  confidence: 0.4,
  tier: "classifier",
  unsure: true,
  alternatives: [
    { workflow: "DEBUG", confidence: 0.3 },
    { workflow: "REVIEW", confidence: 0.15 },
    { workflow: "PLAN", confidence: 0.15 },
  ],
};

export function classify(goal: string, chosen: Workflow | null): Classification {
  if (chosen !== null) return named("caller", chosen, "given by the caller");
  const explicit = explicitWorkflow(goal);
  if (explicit !== null)
    return named("explicit", explicit.workflow, `the goal says ${quoted(explicit.words)}`);
  if (saysNothing(goal, LEAST_WORDS)) return SAYS_NOTHING;
  return classifyBy(MODEL, goal);
}

/** The model's tier alone. Pure: the same model and goal give the same answer. */
function classifyBy(model: LinearModel, goal: string): Classification {
  const found = features(goal);
  const parts = shares(scoresOf(model, found), model.temperature);
  const ranked = WORKFLOWS.map((workflow, i) => ({ workflow, confidence: parts[i] ?? 0 }));
  ranked.sort((a, b) => b.confidence - a.confidence);
  const [first, ...rest] = ranked;
  if (first === undefined) throw new TypeError("the model has no classes");
  const { workflow, confidence } = first;
  const reasons = reasonsFor(model, found, workflow, rest[0]?.workflow ?? workflow, MOST_REASONS);
  return {
    workflow,
    reason:
      reasons.length === 0
        ? "no words that say more"
        : `decided by ${reasons.map((said) => (SIGNS.has(said) ? said : quoted(said))).join(", ")}`,
    confidence: rounded(confidence),
    tier: "classifier",
    unsure: confidence < model.sureFrom,
    alternatives: rest.map((other) => ({ ...other, confidence: rounded(other.confidence) })),
  };
}
