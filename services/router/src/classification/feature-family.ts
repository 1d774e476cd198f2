/** Features of one kind. Each family has unit length, so that a long request does not speak louder than a short one. */
import { bucketOf } from "./feature-hash.ts";

export type Feature = {
  readonly bucket: number;
  readonly value: number;
  /** What the feature is of, for people: a word, a phrase or a name. Empty if it names nothing a person would recognise. */
  readonly of: string;
};

export class FeatureFamily {
  readonly #counts = new Map<number, { count: number; of: string }>();
  readonly #seed: number;
  readonly #length: number;

  /** `length`: the weight of this family among the others. */
  constructor(seed: number, length: number) {
    this.#seed = seed;
    this.#length = length;
  }

  get seed(): number {
    return this.#seed;
  }

  add(key: string, of: string): void {
    this.addBucket(bucketOf(key, this.#seed), of);
  }

  addBucket(bucket: number, of: string): void {
    const known = this.#counts.get(bucket);
    if (known === undefined) this.#counts.set(bucket, { count: 1, of });
    else known.count += 1;
  }

  /** The features, of unit length times the family's weight. A repeated one counts by its logarithm. */
  emit(into: Feature[]): void {
    let squares = 0;
    for (const { count } of this.#counts.values()) squares += (1 + Math.log(count)) ** 2;
    if (squares === 0) return;
    const scale = this.#length / Math.sqrt(squares);
    for (const [bucket, { count, of }] of this.#counts) {
      into.push({ bucket, value: (1 + Math.log(count)) * scale, of });
    }
  }
}
