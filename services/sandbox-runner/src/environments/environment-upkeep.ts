/**
 * Removes the environments that nobody asked for in a while, and the least recently used ones beyond the store's size.
 *
 * Every runner does this once an hour; several at the same time do no harm. A record goes first, by compare-and-set: it
 * stays if a job used it in the meantime. Its layer goes afterwards, unless another environment is made of the same bytes.
 * A job that still finds a layer gone prepares its environment again.
 */
import { limits } from "@antiphon/contracts";
import type { Blobs, Clock, Kv } from "@antiphon/runtime";
import { surplus, type EnvironmentRecord, type KeptLayer } from "./environment-record.ts";

export interface UpkeepOptions {
  readonly records: Kv;
  readonly layers: Blobs;
  readonly clock: Clock;
  /** All layers together. Default limits.environmentStoreBytes. */
  readonly maxBytes?: number;
  readonly onRemoved: (environment: { readonly key: string; readonly bytes: number }) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Kept extends KeptLayer {
  /** The name of the layer's object. */
  readonly name: string;
  readonly revision: number;
}

const EVERY_MS = 3_600_000;

/** One round. */
export async function removeSurplus(options: UpkeepOptions): Promise<void> {
  const { records, layers, clock, onRemoved } = options;
  const kept = await readyOnes(records);
  const keys = new Set(surplus(kept, clock.now(), options.maxBytes ?? limits.environmentStoreBytes));
  const removed: Kept[] = [];
  for (const one of kept) if (keys.has(one.key) && (await forget(records, one))) removed.push(one);
  const needed = new Set((await readyOnes(records)).map(({ name }) => name));
  for (const { key, name, bytes } of removed) {
    if (!needed.has(name)) await layers.remove(name);
    onRemoved({ key, bytes });
  }
}

/** A round now and every hour, until the signal aborts. */
export async function removeSurplusUntil(options: UpkeepOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await removeSurplus(options).catch(options.onFailure);
    await options.clock.sleep(EVERY_MS, signal);
  }
}

async function readyOnes(records: Kv): Promise<Kept[]> {
  const ready: Kept[] = [];
  for (const key of await records.keys()) {
    const entry = await records.get<EnvironmentRecord>(key);
    if (entry?.value.state !== "ready") continue;
    const { layer, used_at: usedAt } = entry.value;
    ready.push({ key, bytes: layer.bytes, usedAt, name: layer.name, revision: entry.revision });
  }
  return ready;
}

/** False: somebody used or replaced it in the meantime. */
async function forget(records: Kv, { key, revision }: Kept): Promise<boolean> {
  const given = { state: "building", holder: "", beat: 0 } satisfies EnvironmentRecord;
  if ((await records.update(key, given, revision)) === null) return false;
  await records.delete(key);
  return true;
}
