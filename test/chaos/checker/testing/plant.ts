/** A planted violation: a change to a healthy scene, and the violation that the checker has to find. */
import type { JournalType, StoredRecord } from "@antiphon/contracts";
import type { History } from "../history.ts";
import type { InvariantId } from "../invariant.ts";
import type { Scene } from "./scene.ts";

export interface Plant {
  readonly name: string;
  readonly invariant: InvariantId;
  readonly rule: string;
  /** Other invariants that the same change violates. */
  readonly also?: readonly InvariantId[];
  /** The largest allowed number of items in the counterexample. */
  readonly atMost: number;
  readonly history: () => History;
}

/** Removes matching records; the rest is numbered and sealed again unless `torn`. */
export function without(scene: Scene, matches: (record: StoredRecord) => boolean): Scene {
  const kept = scene.records.filter((record) => !matches(record));
  scene.records.splice(0, scene.records.length, ...kept);
  return scene.resealed();
}

/** Moves the records that `build` appends to before the first record of that type. */
export function before(scene: Scene, type: JournalType, build: (scene: Scene) => unknown): Scene {
  const count = scene.records.length;
  build(scene);
  const added = scene.records.splice(count);
  const at = scene.records.findIndex((record) => record.type === type);
  scene.records.splice(at, 0, ...added);
  return scene.resealed();
}
