/**
 * What becomes of a decision that the classifier marks unsure once a model has been asked. Pure.
 *
 * Two that agree are sure. If they differ, the model decides, because the classifier itself says that it may be wrong, and the
 * decision stays marked unsure.
 */
import type { Workflow } from "@antiphon/contracts";
import type { Classification } from "../classification/classify.ts";

/** The confidence of a decision that two judges see differently. */
const DIVIDED = 0.5;

export type Opinion = { readonly workflow: Workflow; readonly model: string };

export function isWanted({ tier, unsure }: Classification): boolean {
  return tier === "classifier" && unsure;
}

export function withOpinion(own: Classification, { workflow, model }: Opinion): Classification {
  const reason = `${model} reads it so; the classifier: ${own.workflow}, ${own.reason}`;
  if (workflow === own.workflow) return { ...own, reason, tier: "model", unsure: false };
  const others = own.alternatives.filter((other) => other.workflow !== workflow);
  const alternatives = [{ workflow: own.workflow, confidence: own.confidence }, ...others];
  return { ...own, workflow, reason, confidence: DIVIDED, tier: "model", alternatives };
}
