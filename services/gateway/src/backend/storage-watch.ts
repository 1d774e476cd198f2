// Refuses new work above limits.storageAdmissionPercent of JetStream's store, because a server with a full disk shuts
// JetStream down. Accepted work continues in the remaining space. In a cluster the fullest server decides, since any
// stream may have a copy there. If no server reports its fill level, work is accepted and the next request asks again.
// A server knows its own limit and not its disk, which other programs fill as well. So where the store is on this machine,
// its file system is looked at too.
import { statfs } from "node:fs/promises";
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Bus } from "@antiphon/runtime";

const FRESH_MS = 1_000;
const ANSWER_MS = 300;

type Watched = Pick<Bus, "nc" | "monitorUrl" | "storage">;

export class StorageWatch {
  readonly #bus: Watched;
  readonly #storeDir: string | null;
  #usedPercent: number | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `storeDir`: directory of the store. Null: on another machine. */
  constructor(bus: Watched, storeDir: string | null = null) {
    this.#bus = bus;
    this.#storeDir = storeDir;
  }

  /** Throws ANT_NATS_NO_SPACE if the store, or the file system that it is on, is too full for new work. */
  async admit(): Promise<void> {
    if (this.#storeDir !== null) await requireFree(this.#storeDir);
    const now = performance.now();
    if (now - this.#askedAt > FRESH_MS) {
      this.#askedAt = now;
      this.#usedPercent = await this.#ask();
    }
    if (this.#usedPercent === null || this.#usedPercent < limits.storageAdmissionPercent) return;
    const message = `JetStream is ${Math.floor(this.#usedPercent)} % full; above ${limits.storageAdmissionPercent} % no new work is accepted`;
    throw new AntiphonError("ANT_NATS_NO_SPACE", message, { data: { usedPercent: this.#usedPercent } });
  }

  /** The error of `admit`, or what the server says to this process's messages; null: there is room. */
  async problem(): Promise<AntiphonError | null> {
    const refused = this.#bus.storage.words();
    if (refused !== null) return noSpace(refused);
    try {
      await this.admit();
      return null;
    } catch (error) {
      if (error instanceof AntiphonError && error.code === "ANT_NATS_NO_SPACE") return error;
      throw error;
    }
  }

  async #ask(): Promise<number | null> {
    const { monitorUrl } = this.#bus;
    if (monitorUrl === undefined) return this.#overNats();
    const urls = monitorUrl.split(",").filter((url) => url.length > 0);
    const told = (await Promise.all(urls.map(overHttp))).filter((percent) => percent !== null);
    return told.length === 0 ? null : Math.max(...told);
  }

  async #overNats(): Promise<number | null> {
    try {
      const options = { timeout: ANSWER_MS };
      const reply = await this.#bus.nc.request("$SYS.REQ.SERVER.PING.JSZ", '{"config":true}', options);
      return percentOf(reply.json<{ data?: StorageReport }>().data);
    } catch {
      return null; // An unknown fill level refuses nothing.
    }
  }
}

/** `refused`: the stream, and why it accepts no message. */
export function noSpace(refused: string): AntiphonError {
  return new AntiphonError("ANT_NATS_NO_SPACE", `JetStream accepts no more records (${refused})`);
}

async function requireFree(storeDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(storeDir);
  const freeBytes = bavail * bsize;
  if (freeBytes >= limits.storeDiskFreeBytes) return;
  const message = `the disk of ${storeDir} has ${mebibytes(freeBytes)} free; below ${mebibytes(limits.storeDiskFreeBytes)} no new work is accepted`;
  throw new AntiphonError("ANT_NATS_NO_SPACE", message, { data: { path: storeDir, freeBytes } });
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)} MiB`;
}

async function overHttp(url: string): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(new URL("/jsz?config=true", url), { signal });
    return percentOf((await answer.json()) as StorageReport);
  } catch {
    return null; // An unknown fill level refuses nothing.
  }
}

/** The part of `jsz` about a server's disk, in bytes. */
interface StorageReport {
  storage?: number;
  config?: { max_storage?: number };
}

function percentOf({ storage, config }: StorageReport = {}): number | null {
  if (storage === undefined || config?.max_storage === undefined || config.max_storage <= 0) return null;
  return (storage / config.max_storage) * 100;
}
