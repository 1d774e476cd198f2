/** What decisions about labelled requests are worth: accuracy, F1, calibration, doubt. */
import { WORKFLOWS } from "../src/classification/workflows.ts";
import type { Workflow } from "@antiphon/contracts";

export type Judged = {
  readonly label: Workflow;
  readonly workflow: Workflow;
  readonly confidence: number;
  readonly unsure: boolean;
};

export type ClassReport = {
  readonly workflow: Workflow;
  readonly recall: number;
  readonly precision: number;
  readonly f1: number;
};

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
const isRight = ({ label, workflow }: Judged): boolean => label === workflow;

export function accuracyOf(judged: readonly Judged[]): number {
  return share(judged.filter(isRight).length, judged.length);
}

/** Decisions about requests of one label, by what was decided. */
export function confusionOf(judged: readonly Judged[]): Record<Workflow, Record<Workflow, number>> {
  const none = (): Record<Workflow, number> => ({ BUILD: 0, DEBUG: 0, REVIEW: 0, PLAN: 0 });
  const table = { BUILD: none(), DEBUG: none(), REVIEW: none(), PLAN: none() };
  for (const { label, workflow } of judged) table[label][workflow] += 1;
  return table;
}

export function classesOf(judged: readonly Judged[]): ClassReport[] {
  return WORKFLOWS.map((workflow) => {
    const right = judged.filter((one) => one.label === workflow && isRight(one)).length;
    const recall = share(right, judged.filter(({ label }) => label === workflow).length);
    const precision = share(right, judged.filter((one) => one.workflow === workflow).length);
    return { workflow, recall, precision, f1: share(2 * recall * precision, recall + precision) };
  });
}

/** Expected calibration error over ten equal ranges of confidence, 0..1. */
export function calibrationErrorOf(judged: readonly Judged[]): number {
  const bins = Array.from({ length: 10 }, (): Judged[] => []);
  for (const one of judged) bins[Math.min(9, Math.floor(one.confidence * 10))]?.push(one);
  return bins.reduce((sum, bin) => {
    const mean = share(
      bin.reduce((total, { confidence }) => total + confidence, 0),
      bin.length,
    );
    return sum + share(bin.length, judged.length) * Math.abs(accuracyOf(bin) - mean);
  }, 0);
}

/** How many decisions are marked unsure, and how many of the wrong ones are. */
export function doubtOf(judged: readonly Judged[]): { readonly unsure: number; readonly ofWrong: number } {
  const wrong = judged.filter((one) => !isRight(one));
  const marked = (list: readonly Judged[]): number =>
    share(list.filter(({ unsure }) => unsure).length, list.length);
  return { unsure: marked(judged), ofWrong: marked(wrong) };
}
