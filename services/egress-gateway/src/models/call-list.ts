/**
 * The recordings of an attempt's model calls, listed while it works: in KV `ANT_BUDGETS` under `<runId>.<taskId>.<epoch>`. They are
 * the checkpoints of its conversation. If the attempt is lost with its process, the next one is answered from them, so no
 * answer that was stored is asked for again; only the call or the tool under way is lost.
 *
 * The list is written after each call, beside the answer, which does not wait for it. It is best effort: without it the next
 * attempt asks anew.
 */
import type { BlobRef, EgressOpenRequest, ModelRecording } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";

type AttemptOf = Pick<EgressOpenRequest, "run" | "task" | "epoch">;

interface Listed {
  readonly calls: readonly BlobRef[];
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

  async of(attempt: AttemptOf): Promise<readonly BlobRef[]> {
    return (await this.#kv.get<Listed>(keyOf(attempt)))?.value.calls ?? [];
  }

  /** Writes one list after the other, always the newest. */
  writer(attempt: AttemptOf): (calls: readonly BlobRef[]) => void {
    let next: readonly BlobRef[] | null = null;
    let isWriting = false;
    const write = async (): Promise<void> => {
      isWriting = true;
      try {
        for (let calls = next; calls !== null; calls = next) {
          next = null;
          await this.#kv.put(keyOf(attempt), { calls: calls.slice(0, MOST) } satisfies Listed);
        }
      } catch (error) {
        this.#onFailure(error);
      } finally {
        isWriting = false;
      }
    };
    return (calls) => {
      next = [...calls];
      if (!isWriting) void write();
    };
  }
}

/** An answer to go on from. One that broke off, or a refusal, would only be asked for again. */
export function isWhole({ response }: ModelRecording): boolean {
  const { status, truncated, whole } = response;
  return status >= 200 && status < 300 && !truncated && whole !== false;
}

const keyOf = ({ run, task, epoch }: AttemptOf): string => `${run}.${task}.${epoch}`;
