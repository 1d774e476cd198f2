/** Lists the records that the view of a run shows to exist. Pure. */
import type { RunStep, RunViewModel } from "@antiphon/contracts";
import type { KnownRun, Place } from "./known-run.ts";

/** The view is written after the journal, so every record it shows was stored. It may lag behind. */
export function shownBy(view: RunViewModel, run: KnownRun): Place[] {
  const over = view.status === "succeeded" || view.status === "failed" || view.status === "canceled";
  return [
    ["intent", null, 0],
    ...(view.steps.length > 0 ? ([["routed", null, 0]] as const) : []),
    ...(over ? ([["closed", null, 0]] as const) : []),
    ...view.steps.flatMap((step) => (isQuestion(step, run) ? ofQuestion(step) : ofStep(step))),
  ];
}

/** The step shows a question of the Director: nobody has held an attempt of it. */
function isQuestion({ id, epoch, questions, associate }: RunStep, run: KnownRun): boolean {
  if (run.isQuestion(id, epoch)) return true;
  return questions.length > 0 && associate === null && !run.hasAttempt(id, epoch);
}

function ofQuestion({ id, epoch }: RunStep): Place[] {
  return [["verdict", id, epoch]];
}

function ofStep({ id, epoch, associate, status, commit, questions }: RunStep): Place[] {
  if (epoch < 1) return [];
  const places: Place[] = [["dispatch", id, epoch]];
  if (associate !== null) places.push(["claim", id, epoch]);
  if (status === "proposed" || questions.length > 0) places.push(["result", id, epoch]);
  if (status === "done") places.push(["verdict", id, epoch]);
  if (status === "done" && commit !== null) places.push(["landing", id, epoch]);
  return places;
}
