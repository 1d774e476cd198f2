/** A linear model with weights of one byte: decoding, and the score of a request. */
import { WORKFLOWS } from "./workflows.ts";
import type { Workflow } from "@antiphon/contracts";
import { BUCKETS } from "./feature-hash.ts";
import type { Feature } from "./feature-family.ts";

/** The file `npm run train:router` writes. */
export type ModelFile = {
  readonly classes: readonly string[];
  readonly bias: readonly number[];
  /** The weight of the largest byte. */
  readonly largest: number;
  /** Scores are divided by this before they become shares, so that a share of 0.8 is right in 80 % of cases. */
  readonly temperature: number;
  /** A share below this is marked unsure. */
  readonly sureFrom: number;
  /** A signed byte for each bucket and class, in base64. */
  readonly weights: string;
};

export type LinearModel = Omit<ModelFile, "weights"> & { readonly weights: Float32Array };

const TOP = 127;

/** Square roots are stored: most weights are small, and a step near zero is finer than one at the end. */
export function weightOfByte(byte: number, largest: number): number {
  return Math.sign(byte) * (byte / TOP) ** 2 * largest;
}

export function byteOfWeight(weight: number, largest: number): number {
  return Math.sign(weight) * Math.round(Math.sqrt(Math.abs(weight) / largest) * TOP);
}

export function decodeModel(file: ModelFile): LinearModel {
  const bytes = atob(file.weights);
  const weights = new Float32Array(BUCKETS * WORKFLOWS.length);
  if (bytes.length !== weights.length || file.classes.join() !== WORKFLOWS.join()) {
    throw new TypeError("the model was not made for this code; run `npm run train:router`");
  }
  for (let i = 0; i < weights.length; i += 1) {
    weights[i] = weightOfByte((bytes.charCodeAt(i) << 24) >> 24, file.largest);
  }
  return { ...file, weights };
}

export function shares(scores: readonly number[], temperature: number): number[] {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - top) / temperature));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

/** One score for each workflow. */
export function scoresOf(model: LinearModel, features: readonly Feature[]): number[] {
  const scores = [...model.bias];
  for (const { bucket, value } of features) {
    for (let c = 0; c < scores.length; c += 1) {
      scores[c] = (scores[c] ?? 0) + value * (model.weights[bucket * WORKFLOWS.length + c] ?? 0);
    }
  }
  return scores;
}

/** Worth quoting: it begins with a letter, and is longer than an article unless one sign is a word. */
const TELLING =
  /^(?:\p{L}{3}|\p{L}{1,40} \p{L}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])/u;

/** Words of three letters that weigh in the score and tell a reader nothing. */
const GRAMMAR = new Set([
  "the",
  "and",
  "for",
  "has",
  "was",
  "are",
  "its",
  "our",
  "der",
  "die",
  "das",
  "und",
  "les",
  "des",
  "los",
]);

/** The part of the strongest reason from which another is worth telling. */
const WORTH_TELLING = 0.12;

/** What spoke most for one workflow and against another, as words of the request or signs of its shape. */
export function reasonsFor(
  model: LinearModel,
  features: readonly Feature[],
  chosen: Workflow,
  rival: Workflow,
  most: number,
): string[] {
  const [a, b] = [WORKFLOWS.indexOf(chosen), WORKFLOWS.indexOf(rival)];
  const spoke = new Map<string, number>();
  for (const { bucket, value, of } of features) {
    if (!TELLING.test(of) || GRAMMAR.has(of)) continue;
    const row = bucket * WORKFLOWS.length;
    const gain = value * ((model.weights[row + a] ?? 0) - (model.weights[row + b] ?? 0));
    spoke.set(of, (spoke.get(of) ?? 0) + gain);
  }
  const ranked = [...spoke].filter(([, gain]) => gain > 0).sort((x, y) => y[1] - x[1]);
  const least = WORTH_TELLING * (ranked[0]?.[1] ?? 0);
  const kept: string[] = [];
  for (const [of, gain] of ranked) {
    if (kept.length === most || gain < least) break;
    if (!kept.some((known) => known.includes(of) || of.includes(known))) kept.push(of);
  }
  return kept;
}
