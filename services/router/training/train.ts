/**
 * `npm run train:router`: writes `src/classification/model.json` from the labelled requests. Temperature and threshold
 * come from decisions about hands that were left out of the fit.
 */
import { writeFileSync } from "node:fs";
import { fileOf, modelOf, rowsOf, temperatureFor, thresholdFor } from "./fitting.ts";
import { OWN_HANDS, requestsOf, TRAINING_HANDS, WRITERS_OF_SEVERAL } from "./labelled-requests.ts";
import { leaveOneOut } from "./leave-one-out.ts";

/** Share of the wrong decisions about a left-out hand that are marked unsure. */
const CAUGHT = 0.86;
/** Their hands are most of the terse titles: a model that lacks all of one writer's is less sure than the one that is written. */
const several: readonly string[] = WRITERS_OF_SEVERAL.flat();

const rows = rowsOf(requestsOf([...TRAINING_HANDS, ...OWN_HANDS]));
const leftOut = leaveOneOut(rows);
const temperature = temperatureFor(leftOut.filter(({ request }) => !several.includes(request.hand)));
const sureFrom = thresholdFor(leftOut, temperature, CAUGHT);
const file = fileOf({ ...modelOf(rows), temperature, sureFrom });
const target = new URL("../src/classification/model.json", import.meta.url);
writeFileSync(target, `${JSON.stringify(file, null, 2)}\n`);
console.log(`${rows.length} requests; temperature ${temperature}, sure from ${sureFrom}`);
