import type { ConsumerName } from "@antiphon/contracts";
import type { Journal } from "../journal/journal.ts";
import type { Outcome } from "./outcome.ts";
import type { Delivery } from "./delivery-handler.ts";

/**
 * Handles a dead letter once more. A `requeue` record is delivered like any other and stands for the record it names,
 * which is loaded and handled as on its first delivery. Registers are written once, so a repetition does no harm.
 */
export function requeueing(
  consumer: ConsumerName,
  journal: Pick<Journal, "read">,
  handle: (delivery: Delivery) => Promise<Outcome>,
): (delivery: Delivery) => Promise<Outcome> {
  return async (delivery) => {
    const { record } = delivery;
    if (record.type !== "requeue") return handle(delivery);
    if (record.body.consumer !== consumer) return { kind: "done" };
    const records = await journal.read(record.runId);
    const origin = records.find(({ seq }) => seq === record.cause?.seq);
    if (origin === undefined) {
      const { type, task, epoch } = record.body.origin;
      const detail = `${record.runId} holds no ${type} of ${task ?? "the run"}, epoch ${epoch}, to handle again`;
      return { kind: "terminal", code: "ANT_JOURNAL_GAP", detail };
    }
    return handle({ ...delivery, record: origin });
  };
}
