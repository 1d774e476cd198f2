/**
 * Compares the data that a server acknowledged before a power cut with the data afterwards: journal records of many concurrent
 * writers (atomic batches) and of a single one (single publishes), documents and files.
 */
import { BUCKETS, type BlobRef } from "@antiphon/contracts";
import { openBlobs, openJournal, openKv, provision, type Bus } from "@antiphon/runtime";
import { dispatchRecord } from "../../../contracts/src/testing/records.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";
import { mountPowerDisk, type Loss, type PowerDisk } from "./power-disk.ts";

export interface Trial {
  readonly sync: "always" | "lazy";
  readonly ordering?: "ordered" | "strict";
  /** One power cut per seed; null: no unsynced data survives. */
  readonly seeds: readonly (number | null)[];
  /** The minimum number of acknowledgements before each cut. */
  readonly promises: number;
}

export interface TrialResult {
  /** Acknowledged before any cut. */
  readonly acknowledged: number;
  /** Acknowledged data that is missing or changed. */
  readonly lost: readonly string[];
  readonly cuts: readonly Loss[];
  readonly batched: number;
  readonly singles: number;
}

const WRITERS = 120;
const RUNS = 8;

export async function powerTrial(trial: Trial): Promise<TrialResult> {
  const disk = await mountPowerDisk({ ordering: trial.ordering ?? "ordered" });
  const server = await startNats({ storeDir: disk.path, sync: trial.sync });
  try {
    return await cutAgainAndAgain(trial, disk, server);
  } finally {
    await server.close({ checkLeaks: false });
    await disk.remove();
  }
}

async function cutAgainAndAgain(trial: Trial, disk: PowerDisk, server: NatsServer): Promise<TrialResult> {
  const many = await server.connect({ unsafeDurability: true });
  const alone = await server.connect({ unsafeDurability: true });
  await provision(many);
  await provision(alone);
  const promises = new Promises(many, alone);
  if (trial.sync === "lazy") await disk.sync(); // Ensures that records are lost, and not their streams.
  const cuts: Loss[] = [];
  for (const seed of trial.seeds) {
    const wanted = promises.size + trial.promises;
    const stop = promises.make();
    await eventually(`${wanted} promises`, () => promises.size >= wanted, 60_000);
    cuts.push(await disk.cut({ kill: [server.pid()], seed }));
    promises.freeze();
    await server.kill(); // It is dead; wait for its exit before the next start.
    await server.restart();
    await stop();
  }
  const { batched, singles } = many.publisherStats();
  return {
    acknowledged: promises.size,
    lost: await promises.broken(),
    cuts,
    batched,
    singles: singles + alone.publisherStats().singles,
  };
}

/** Lifecycle: making -> frozen (later acknowledgements are not counted) -> making ... */
class Promises {
  readonly #records = new Map<string, { runId: string; seq: number; digest: string }>();
  readonly #documents = new Map<string, number>();
  readonly #files: BlobRef[] = [];
  readonly #many: Bus;
  readonly #alone: Bus;
  #counting = true;
  #next = 0;

  constructor(many: Bus, alone: Bus) {
    this.#many = many;
    this.#alone = alone;
  }

  get size(): number {
    return this.#records.size + this.#documents.size + this.#files.length;
  }

  /** Returns a function that stops: every writer completes its last write, so its result is known. */
  make(): () => Promise<void> {
    this.#counting = true;
    let over = false;
    const again = async (write: () => Promise<void>): Promise<void> => {
      while (!over) await write();
    };
    const writers = [
      ...Array.from({ length: WRITERS }, () => again(() => this.#record(this.#many))),
      again(() => this.#record(this.#alone)),
      again(() => this.#document()),
      again(() => this.#file()),
    ];
    return async () => {
      over = true;
      await Promise.all(writers);
    };
  }

  freeze(): void {
    this.#counting = false;
  }

  async #record(bus: Bus): Promise<void> {
    const at = this.#next++;
    const runId = `run_power${at % RUNS}`;
    const result = await openJournal(bus).append(dispatchRecord(runId, `T-${at}`, 1, 200));
    if (result.kind === "conflict") throw new Error(`${runId} T-${at} is there already, and is another`);
    const { subject, seq, digest } = result.record;
    if (this.#counting) this.#records.set(subject, { runId, seq, digest });
  }

  async #document(): Promise<void> {
    const key = `run_power.T-${this.#next++}.1`;
    const value = this.#next;
    await openKv(this.#alone, BUCKETS.evidence).put(key, { value });
    if (this.#counting) this.#documents.set(key, value);
  }

  async #file(): Promise<void> {
    const bytes = Buffer.from(`file ${this.#next++} `.repeat(500));
    try {
      const ref = await openBlobs(this.#alone, BUCKETS.evidenceFiles).put(null, bytes);
      if (this.#counting) this.#files.push(ref);
    } catch (error) {
      if (this.#counting) throw error; // The power failed meanwhile, so nothing was acknowledged.
    }
  }

  async broken(): Promise<string[]> {
    const journal = openJournal(this.#many);
    const stored = await Promise.all(
      Array.from({ length: RUNS }, (_, index) => journal.read(`run_power${index}`)),
    );
    const found = new Map(stored.flat().map((record) => [record.subject, record]));
    const records = [...this.#records].filter(([subject, { seq, digest }]) => {
      const record = found.get(subject);
      return record?.seq !== seq || record.digest !== digest;
    });
    const kv = openKv(this.#many, BUCKETS.evidence);
    const documents = await Promise.all(
      [...this.#documents].map(async ([key, value]) => {
        const entry = await kv.get<{ value: number }>(key);
        return entry?.value.value === value ? [] : [key];
      }),
    );
    const blobs = openBlobs(this.#many, BUCKETS.evidenceFiles);
    const files = await Promise.all(
      this.#files.map((ref) =>
        blobs.get(ref).then(
          () => [],
          (error: Error) => [`${ref.name}: ${error.message}`],
        ),
      ),
    );
    return [...records.map(([subject]) => subject), ...documents.flat(), ...files.flat()];
  }
}
