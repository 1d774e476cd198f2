import type { Workflow } from "@antiphon/contracts";

/** The four workflows, in the order of the model's columns. */
export const WORKFLOWS: readonly Workflow[] = ["BUILD", "DEBUG", "REVIEW", "PLAN"];
