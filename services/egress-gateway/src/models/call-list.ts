/**
 * The recordings of an attempt's model calls, listed while it works: in KV `ANT_BUDGETS` under `<runId>.<taskId>.<epoch>`. They are
 * the checkpoints of its conversation (lost-record.ts).
 *
 * The list is written after each call, beside the answer, which does not wait for it. It is best effort: without it the next
 * attempt asks anew. It ends where a later attempt would not read on, and is not written again after that.
 */
import { limits, type BlobRef, type EgressOpenRequest } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";

export type AttemptOf = Pick<EgressOpenRequest, "run" | "task" | "epoch">;

export interface Listed {
  /** Oldest first. */
  readonly calls: readonly BlobRef[];
  /** All of them are of an earlier attempt, which this one goes on from: it has made no call of its own yet. */
  readonly isResumed?: boolean;
}

/** About 200 bytes each, and a message holds a megabyte. */
const MOST = 2000;

export class CallLists {
  readonly #kv: Kv;
  readonly #onFailure: (error: unknown) => void;

  constructor(kv: Kv, onFailure: (error: unknown) => void) {
    this.#kv = kv;
    this.#onFailure = onFailure;
  }

  async of(attempt: AttemptOf): Promise<Listed> {
    return (await this.#kv.get<Listed>(keyOf(attempt)))?.value ?? { calls: [] };
  }

  /** Writes one list after the other, always the newest. */
  writer(attempt: AttemptOf): (listed: Listed) => void {
    let next: Listed | null = null;
    let known = "";
    let isWriting = false;
    const write = async (): Promise<void> => {
      isWriting = true;
      try {
        for (let listed = next; listed !== null; listed = next) {
          next = null;
          await this.#kv.put(keyOf(attempt), listed);
        }
      } catch (error) {
        known = "";
        this.#onFailure(error);
      } finally {
        isWriting = false;
      }
    };
    return (listed) => {
      const calls = readable(listed.calls);
      const now = `${calls.length} ${listed.isResumed ?? false}`;
      if (now === known) return;
      known = now;
      next = { ...listed, calls };
      if (!isWriting) void write();
    };
  }
}

/** As many of the oldest as a later attempt reads. */
export function readable(calls: readonly BlobRef[]): readonly BlobRef[] {
  let bytes = 0;
  const end = calls.findIndex((call) => (bytes += call.bytes) > limits.resumedBytes);
  return calls.slice(0, Math.min(MOST, end === -1 ? calls.length : end));
}

const keyOf = ({ run, task, epoch }: AttemptOf): string => `${run}.${task}.${epoch}`;
