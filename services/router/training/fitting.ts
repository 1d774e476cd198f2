/** From labelled requests to a model: which features count, the fit, the calibration, and the file. */
import { BUCKETS } from "../src/classification/feature-hash.ts";
import { features } from "../src/classification/features.ts";
import { byteOfWeight, shares } from "../src/classification/linear-model.ts";
import type { LinearModel, ModelFile } from "../src/classification/linear-model.ts";
import { weightOfByte } from "../src/classification/linear-model.ts";
import { WORKFLOWS } from "../src/classification/workflows.ts";
import type { LabelledRequest } from "./labelled-requests.ts";
import { fit } from "./logistic.ts";
import type { Example } from "./logistic.ts";

/** Chosen on requests of strangers whose misses were read. */
const FIT = { l2: 3e-6, iterations: 90 };
/**
 * Added to the score of DEBUG. A quarter of the training requests are faults, and half of what strangers write. Chosen on their
 * requests whose misses were read.
 */
const MORE_FAULTS = 0.4;
/** A feature counts if it occurs with so many hands: what only one writer says is about that writer. */
const LEAST_HANDS = 2;

type Row = { readonly request: LabelledRequest; readonly found: Map<number, number> };

/** Features by bucket; two in one bucket add up, as they do when a request is scored. */
export function rowsOf(requests: readonly LabelledRequest[]): Row[] {
  return requests.map((request) => {
    const found = new Map<number, number>();
    for (const { bucket, value } of features(request.text)) {
      found.set(bucket, (found.get(bucket) ?? 0) + value);
    }
    return { request, found };
  });
}

function countedBuckets(rows: readonly Row[]): Map<number, number> {
  const hands = new Map<number, Set<string>>();
  for (const { request, found } of rows) {
    for (const bucket of found.keys()) {
      hands.set(bucket, (hands.get(bucket) ?? new Set<string>()).add(request.hand));
    }
  }
  const columns = new Map<number, number>();
  for (const [bucket, by] of hands) if (by.size >= LEAST_HANDS) columns.set(bucket, columns.size);
  return columns;
}

function exampleOf({ request, found }: Row, columns: ReadonlyMap<number, number>): Example {
  const known = [...found].flatMap(([bucket, value]) => {
    const column = columns.get(bucket);
    return column === undefined ? [] : [{ column, value }];
  });
  return {
    columns: Int32Array.from(known.map(({ column }) => column)),
    values: Float64Array.from(known.map(({ value }) => value)),
    label: WORKFLOWS.indexOf(request.label),
  };
}

/** A model of the rows, with weights of one byte, before calibration. */
export function modelOf(rows: readonly Row[]): LinearModel {
  const columns = countedBuckets(rows);
  const examples = rows.map((row) => exampleOf(row, columns));
  const { weights: exact, bias } = fit(examples, WORKFLOWS.length, columns.size, FIT);
  const largest = exact.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
  const weights = new Float32Array(BUCKETS * WORKFLOWS.length);
  for (const [bucket, column] of columns) {
    for (let c = 0; c < WORKFLOWS.length; c += 1) {
      const weight = exact[column * WORKFLOWS.length + c] ?? 0;
      weights[bucket * WORKFLOWS.length + c] = weightOfByte(byteOfWeight(weight, largest), largest);
    }
  }
  const shifted = WORKFLOWS.map((name, c) => (bias[c] ?? 0) + (name === "DEBUG" ? MORE_FAULTS : 0));
  return { classes: WORKFLOWS, bias: shifted, largest, temperature: 1, sureFrom: 0, weights };
}

export type Scored = { readonly request: LabelledRequest; readonly scores: readonly number[] };

/** The temperature, out of a grid, under which the labels are likeliest. */
export function temperatureFor(scored: readonly Scored[]): number {
  let best = { temperature: 1, loss: Infinity };
  for (let step = 50; step <= 400; step += 5) {
    const temperature = step / 100;
    const loss = scored.reduce((sum, { request, scores }) => {
      const share = shares(scores, temperature)[WORKFLOWS.indexOf(request.label)] ?? 0;
      return sum - Math.log(Math.max(share, 1e-12));
    }, 0);
    if (loss < best.loss) best = { temperature, loss };
  }
  return best.temperature;
}

/** The least confidence below which `caught` (0..1) of the wrong decisions fall. */
export function thresholdFor(scored: readonly Scored[], temperature: number, caught: number): number {
  const wrong = scored.flatMap(({ request, scores }) => {
    const parts = shares(scores, temperature);
    const top = Math.max(...parts);
    return parts.indexOf(top) === WORKFLOWS.indexOf(request.label) ? [] : [top];
  });
  wrong.sort((a, b) => a - b);
  const last = wrong[Math.min(wrong.length - 1, Math.ceil(wrong.length * caught) - 1)] ?? 0;
  return Math.ceil(last * 1000 + 1) / 1000;
}

export function fileOf(model: LinearModel): ModelFile {
  const bytes = Buffer.alloc(model.weights.length);
  for (const [i, weight] of model.weights.entries()) bytes.writeInt8(byteOfWeight(weight, model.largest), i);
  return { ...model, weights: bytes.toString("base64") };
}
