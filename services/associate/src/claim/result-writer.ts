/**
 * Stores the result of an attempt in the journal, and keeps trying while there is no server or no space, because the work
 * behind it would have to be done again. A result that can never be stored is replaced by `abandoned`, so that the task
 * goes on.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { ResultBody } from "@antiphon/contracts";
import type { AppendResult, Clock, Logger } from "@antiphon/runtime";
import { retryDelayMs } from "../attempt/fault.ts";

export interface ResultPorts {
  readonly associate: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the time is up; the dispatch is then handed back. */
  readonly signal: AbortSignal;
  append(body: ResultBody): Promise<AppendResult>;
}

/** Throws when the signal aborts first, or when even `abandoned` cannot be stored. */
export async function storeResult(result: ResultBody, ports: ResultPorts): Promise<AppendResult> {
  let body = result;
  for (let attempt = 0; ; attempt += 1) {
    const done = await ports.append(body).catch((thrown: unknown) => AntiphonError.from(thrown));
    if (!(done instanceof AntiphonError)) return done;
    if (ports.signal.aborted) throw done;
    const { code, detail } = done;
    if (done.disposition === "retry") {
      if (attempt % 10 === 0) ports.log.warn({ code, detail, remedy: done.remedy }, "result not stored yet");
      await ports.clock.sleep(retryDelayMs(attempt), ports.signal);
    } else if (body.kind === "reported") {
      ports.log.error({ code, detail }, "the result cannot be stored; the attempt is abandoned");
      body = { kind: "abandoned", associate: ports.associate, code, message: detail.slice(0, 2048) };
    } else {
      throw done;
    }
  }
}
