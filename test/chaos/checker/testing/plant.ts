/** A planted violation: how a healthy scene is spoiled, and what the checker has to say about it. */
import type { JournalType, StoredRecord } from "@antiphon/contracts";
import type { History } from "../history.ts";
import type { InvariantId } from "../invariant.ts";
import type { Scene } from "./scene.ts";

export interface Plant {
  readonly name: string;
  readonly invariant: InvariantId;
  readonly rule: string;
  /** Other invariants that are broken by the same deed. */
  readonly also?: readonly InvariantId[];
  /** Items the counterexample may have at most. */
  readonly atMost: number;
  readonly history: () => History;
}

/** Takes the records out that match; the rest is numbered and sealed anew unless `torn`. */
export function without(scene: Scene, matches: (record: StoredRecord) => boolean): Scene {
  const kept = scene.records.filter((record) => !matches(record));
  scene.records.splice(0, scene.records.length, ...kept);
  return scene.resealed();
}

/** What `build` appends is moved to the place before the first record of that type. */
export function before(scene: Scene, type: JournalType, build: (scene: Scene) => unknown): Scene {
  const count = scene.records.length;
  build(scene);
  const added = scene.records.splice(count);
  const at = scene.records.findIndex((record) => record.type === type);
  scene.records.splice(at, 0, ...added);
  return scene.resealed();
}
