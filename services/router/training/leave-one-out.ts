/** Scores of each training hand by a model that never saw it, nor another hand of the same writer. */
import { scoresOf } from "../src/classification/linear-model.ts";
import { features } from "../src/classification/features.ts";
import { modelOf } from "./fitting.ts";
import type { rowsOf, Scored } from "./fitting.ts";
import { ONE_WRITER, TRAINING_HANDS } from "./labelled-requests.ts";

/** One list of hands for each writer. */
const WRITERS: readonly (readonly string[])[] = [
  ...TRAINING_HANDS.filter((hand) => !ONE_WRITER.includes(hand)).map((hand) => [hand]),
  ONE_WRITER,
];

export function leaveOneOut(rows: ReturnType<typeof rowsOf>): Scored[] {
  return WRITERS.flatMap((hands) => {
    const model = modelOf(rows.filter(({ request }) => !hands.includes(request.hand)));
    const measured = rows.filter(({ request }) => hands.includes(request.hand));
    return measured.map(({ request }) => ({ request, scores: scoresOf(model, features(request.text)) }));
  });
}
