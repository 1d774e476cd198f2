/** The attempts under way whose agents read what people tell them, as the gateway judges it. Pure. */
import { hears } from "@antiphon/contracts/runs/hears";
import type { RunRecord } from "../api/run-record.ts";

export interface Listener {
  readonly taskId: string;
  readonly epoch: number;
  /** What people have told the task so far, also earlier attempts: the next one is told it too. */
  readonly told: readonly { readonly n: number; readonly by: string; readonly text: string }[];
}

/** A skill that judges a change hears nobody, and nobody hears once the run ends. */
export function listenersOf(records: readonly RunRecord[]): Listener[] {
  if (records.some(({ type }) => type === "closed" || type === "cancel")) return [];
  return records.flatMap((record): Listener[] => {
    if (record.type !== "dispatch" || record.taskId === null || record.body.gate !== undefined) return [];
    const { taskId, epoch, body } = record;
    const isOver = records.some(
      (one) => one.type === "result" && one.taskId === taskId && one.epoch === epoch,
    );
    if (isOver || !hears(body.agent, body.task.commands)) return [];
    const told = records.flatMap((one) =>
      one.type === "message" && one.body.task === taskId
        ? [{ n: one.epoch, by: one.body.by, text: one.body.text }]
        : [],
    );
    return [{ taskId, epoch, told }];
  });
}
