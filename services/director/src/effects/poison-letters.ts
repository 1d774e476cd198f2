/** Writes the dead letter of a task that was given up after its attempts were lost too often: its last dispatch. */
import { AntiphonError, encode, journalStream, parseJournalSubject } from "@antiphon/contracts";
import type { DeadLetters, Journal } from "@antiphon/runtime";
import type { PoisonedTask } from "@antiphon/run";
import type { PoisonLettersPort } from "../ports.ts";

export class PoisonLetters implements PoisonLettersPort {
  readonly #letters: DeadLetters;
  readonly #journal: Journal;

  constructor(letters: DeadLetters, journal: Journal) {
    this.#letters = letters;
    this.#journal = journal;
  }

  async bury(runId: string, { taskId, epoch, lost, message }: PoisonedTask): Promise<void> {
    const records = await this.#journal.read(runId);
    const last = records.findLast(
      (record) => record.type === "dispatch" && record.taskId === taskId && record.epoch === epoch,
    );
    if (last === undefined)
      throw new AntiphonError("ANT_JOURNAL_GAP", `${runId} has no dispatch of ${taskId} at epoch ${epoch}`);
    const { seq, digest: _digest, at: _at, subject, ...envelope } = last;
    await this.#letters.bury({
      consumer: "associate",
      code: "ANT_TASK_POISON",
      detail: message,
      deliveries: lost,
      origin: { subject, seq, stream: journalStream(parseJournalSubject(subject)?.partition ?? 0) },
      data: encode(envelope),
    });
  }
}
