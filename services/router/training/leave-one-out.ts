/**
 * Scores of each training hand by a model that never saw its writer. Writers are left out two or three at a time, which takes half
 * as many fits as one at a time.
 */
import { scoresOf } from "../src/classification/linear-model.ts";
import { features } from "../src/classification/features.ts";
import { modelOf } from "./fitting.ts";
import type { rowsOf, Scored } from "./fitting.ts";
import { TRAINING_HANDS, WRITERS_OF_SEVERAL } from "./labelled-requests.ts";

const FOLDS = 6;

/** Lists of hands that are left out together. All hands of one writer are in one list. */
function foldsOf(): string[][] {
  const several: readonly string[] = WRITERS_OF_SEVERAL.flat();
  const alone = TRAINING_HANDS.filter((hand) => !several.includes(hand));
  const folds: string[][] = WRITERS_OF_SEVERAL.map((hands) => [...hands]);
  const free = FOLDS - folds.length;
  for (let i = 0; i < free; i += 1) folds.push(alone.filter((_, at) => at % free === i));
  return folds;
}

export function leaveOneOut(rows: ReturnType<typeof rowsOf>): Scored[] {
  return foldsOf().flatMap((hands) => {
    const model = modelOf(rows.filter(({ request }) => !hands.includes(request.hand)));
    const measured = rows.filter(({ request }) => hands.includes(request.hand));
    return measured.map(({ request }) => ({ request, scores: scoresOf(model, features(request.text)) }));
  });
}
