/**
 * The Router: reads `intent` records and answers each with one `routed` record.
 *
 * It has no state. The decision is the pure function `route`, and one register holds one `routed` record; so a second
 * delivery, a second Router or a crash in between ends in one record. The contract in KV is the Director's
 * projection and is not written here.
 */
import { consume, metered, openJournal, requeueing, silentMeter } from "@antiphon/runtime";
import type { Bus, Consumption, Delivery, Journal, Logger, Meter, Outcome } from "@antiphon/runtime";
import { modelAsker } from "./opinion/ask-model.ts";
import type { AskModel, RouterModel } from "./opinion/ask-model.ts";
import { doubtful, route } from "./planning/route.ts";

export interface RouterContext {
  readonly bus: Bus;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Null: nothing is measured. */
  readonly metrics?: Meter | null;
  /** Asked about goals that the classifier is unsure of. Default: none. */
  readonly model?: RouterModel | null;
}

export function startRouter(
  { bus, log, signal, metrics, model = null }: RouterContext,
  slots: number,
): Consumption {
  const journal = openJournal(bus, { log });
  const parts = { journal, log, model: model && { name: model.name, ask: modelAsker(model, log) } };
  return consume(bus, {
    consumer: "router",
    slots,
    log,
    signal,
    handle: metered(
      metrics ?? silentMeter,
      "router",
      requeueing("router", journal, (delivery) => handle(delivery, parts)),
    ),
  });
}

interface Parts {
  readonly journal: Journal;
  readonly log: Logger;
  readonly model: { readonly name: string; readonly ask: AskModel } | null;
}

async function handle({ record, signal }: Delivery, { journal, log, model }: Parts): Promise<Outcome> {
  if (record.type !== "intent") {
    return { kind: "terminal", code: "ANT_CONTRACT_INVALID", detail: `${record.type} is not an intent` };
  }
  const { runId, seq, digest } = record;
  const unsure = model === null ? null : doubtful(record.body);
  const said = model === null || unsure === null ? null : await model.ask(unsure, signal);
  const body = route(
    record.body,
    said === null || model === null ? null : { workflow: said, model: model.name },
  );
  const done = await journal.append(
    { type: "routed", runId, taskId: null, epoch: 0, cause: { seq, digest }, body },
    { signal, probablyAfter: seq },
  );
  if (done.kind === "conflict") {
    // A Router of another version was first. Its record stands, and the run continues with it.
    log.warn({ run: runId, code: "ANT_JOURNAL_CONFLICT" }, "the run was already routed differently");
  }
  return { kind: "done" };
}
