/** Does a run rest on a question that nobody has answered? Such a run may wait as long as people do. */
import type { StoredRecord } from "@antiphon/contracts";

export function questionsOpen(records: readonly StoredRecord[]): boolean {
  const asked = new Set<string>();
  for (const record of records) {
    const key = `${record.taskId} ${record.epoch}`;
    if (record.type === "result" && record.body.kind === "reported") {
      if (record.body.result.status === "needs_input") asked.add(key);
    } else if (record.type === "input") asked.delete(key);
    else if (record.type === "cancel") return false;
  }
  return asked.size > 0;
}
