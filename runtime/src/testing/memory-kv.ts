import { AntiphonError } from "@antiphon/contracts";
import type { Kv, KvEntry } from "../stores/kv.ts";
import { keyForm } from "../stores/kv.ts";

/** A key-value bucket in memory; conformance.ts holds it to the behaviour of the real one. */
export class MemoryKv implements Kv {
  readonly bucket: string;
  private readonly entries = new Map<string, { text: string; revision: number }>();
  private revision = 0;

  constructor(bucket = "MEMORY") {
    this.bucket = bucket;
  }

  get<T = unknown>(key: string): Promise<KvEntry<T> | null> {
    const entry = this.entries.get(checked(key));
    if (entry === undefined) return Promise.resolve(null);
    return Promise.resolve({ value: JSON.parse(entry.text) as T, revision: entry.revision });
  }

  put(key: string, document: unknown, _revision?: number): Promise<number> {
    return Promise.resolve(this.write(key, document));
  }

  create(key: string, document: unknown): Promise<boolean> {
    if (this.entries.has(checked(key))) return Promise.resolve(false);
    this.write(key, document);
    return Promise.resolve(true);
  }

  update(key: string, document: unknown, revision: number): Promise<number | null> {
    if ((this.entries.get(checked(key))?.revision ?? 0) !== revision) return Promise.resolve(null);
    return Promise.resolve(this.write(key, document));
  }

  keys(prefix?: string): Promise<string[]> {
    const all = [...this.entries.keys()];
    return Promise.resolve(prefix === undefined ? all : all.filter((key) => key.startsWith(`${prefix}.`)));
  }

  delete(key: string): Promise<void> {
    this.entries.delete(checked(key));
    return Promise.resolve();
  }

  private write(key: string, document: unknown): number {
    this.revision += 1;
    this.entries.set(checked(key), { text: JSON.stringify(document), revision: this.revision });
    return this.revision;
  }
}

function checked(key: string): string {
  if (!keyForm.test(key))
    throw new AntiphonError("ANT_CONTRACT_INVALID", `not a key: ${JSON.stringify(key)}`);
  return key;
}
