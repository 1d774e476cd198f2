/**
 * Objects of `ANT_REPOS` that a dispatch names and that are gone: the store keeps base trees within a bound, an operator may
 * delete them, and a replay may be of an old attempt. A Director has the repository and stores them again.
 */
import { AntiphonError, limits, subjects, type RepoExportReply } from "@antiphon/contracts";
import { callRpc, type Bus } from "@antiphon/runtime";
import type { AttemptPorts, ExportAgain } from "../ports.ts";
import type { AttemptOrder } from "./attempt-order.ts";

/** A Director that died is noticed after so long; a second request finds an export that is under way. */
const ASK_MS = 30_000;
/** Requests of one step of an attempt. More would not help, because an object that was stored again stays for a while. */
const TRIES = 3;

export function exportAgainOver(bus: Bus): ExportAgain {
  return async ({ runId, taskId, epoch }, signal) => {
    const until = performance.now() + limits.treeTransferMs;
    for (;;) {
      signal.throwIfAborted();
      try {
        await callRpc<RepoExportReply>(
          bus,
          subjects.repoExport,
          { runId, taskId, epoch },
          { timeoutMs: ASK_MS },
        );
        return;
      } catch (error) {
        const { code } = AntiphonError.from(error);
        if (code !== "ANT_RPC_TIMEOUT" || performance.now() > until) throw error;
      }
    }
  };
}

/** Takes a step that reads such objects. If one is gone, it is stored again, and the step is taken again. */
export async function withObjects<T>(
  { runId, epoch, dispatch }: Pick<AttemptOrder, "runId" | "epoch" | "dispatch">,
  { exportAgain, progress, log }: Pick<AttemptPorts, "exportAgain" | "progress" | "log">,
  signal: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await step();
    } catch (thrown) {
      const { code, detail } = AntiphonError.from(thrown);
      if (code !== "ANT_BLOB_MISSING" || tries > TRIES || signal.aborted) throw thrown;
      log.info({ run: runId, epoch, detail }, "an object of the dispatch is gone; it is stored again");
      progress("the base tree is not in the store any more; a Director stores it again");
      await exportAgain({ runId, taskId: dispatch.task.task_id, epoch }, signal);
    }
  }
}

/** The ports with trees that are stored again when they are gone. */
export function withTreesAgain(order: AttemptOrder, ports: AttemptPorts, signal: AbortSignal): AttemptPorts {
  const { trees } = ports;
  const again = <T>(step: () => Promise<T>): Promise<T> => withObjects(order, ports, signal, step);
  return {
    ...ports,
    trees: {
      ensure: (base, until) => again(() => trees.ensure(base, until)),
      diff: (base, change) => again(() => trees.diff(base, change)),
      check: (patch, dispatch) => trees.check(patch, dispatch),
      apply: (base, patch) => again(() => trees.apply(base, patch)),
    },
  };
}
