/** Scores of each training hand by a model that never saw it. */
import { scoresOf } from "../src/classification/linear-model.ts";
import { features } from "../src/classification/features.ts";
import { modelOf } from "./fitting.ts";
import type { rowsOf, Scored } from "./fitting.ts";
import { TRAINING_HANDS } from "./labelled-requests.ts";

export function leaveOneOut(rows: ReturnType<typeof rowsOf>): Scored[] {
  return TRAINING_HANDS.flatMap((hand) => {
    const model = modelOf(rows.filter(({ request }) => request.hand !== hand));
    const measured = rows.filter(({ request }) => request.hand === hand);
    return measured.map(({ request }) => ({ request, scores: scoresOf(model, features(request.text)) }));
  });
}
