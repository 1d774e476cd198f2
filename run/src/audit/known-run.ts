/** A run's records by register: the type, task and epoch under which each is stored once. Pure. */
import type { JournalAddress, StoredRecord } from "@antiphon/contracts";

export type Register = Pick<JournalAddress, "type" | "taskId" | "epoch">;
export type RecordOf<T extends StoredRecord["type"]> = Extract<StoredRecord, { type: T }>;

/** A register, in short. */
export type Place = readonly [type: Register["type"], taskId: string | null, epoch: number];

export const registerKey = ({ type, taskId, epoch }: Register): string =>
  `${type} ${taskId?.toLowerCase() ?? "-"} ${epoch}`;

export class KnownRun {
  readonly records: readonly StoredRecord[];
  readonly #byRegister: ReadonlyMap<string, StoredRecord>;

  constructor(records: readonly StoredRecord[]) {
    this.records = records;
    this.#byRegister = new Map(records.map((record) => [registerKey(record), record]));
  }

  get<T extends StoredRecord["type"]>(
    type: T,
    taskId: string | null,
    epoch: number,
  ): RecordOf<T> | undefined {
    return this.#byRegister.get(registerKey({ type, taskId, epoch })) as RecordOf<T> | undefined;
  }

  all<T extends StoredRecord["type"]>(type: T): RecordOf<T>[] {
    return this.records.filter((record): record is RecordOf<T> => record.type === type);
  }

  /** The last epoch of a task that a record is of; 0: there is none. */
  lastEpoch(taskId: string): number {
    return Math.max(0, ...this.records.filter((one) => one.taskId === taskId).map(({ epoch }) => epoch));
  }

  /**
   * The Director asked what proves the run, in place of an attempt. If the question itself is lost, an answer without any record of
   * an attempt tells of it, so that no attempt is missed that never was.
   */
  isQuestion(taskId: string | null, epoch: number): boolean {
    const verdict = this.get("verdict", taskId, epoch);
    if (verdict !== undefined) return verdict.body.asks !== undefined;
    return this.get("input", taskId, epoch) !== undefined && !this.hasAttempt(taskId, epoch);
  }

  hasAttempt(taskId: string | null, epoch: number): boolean {
    return (["dispatch", "claim", "result"] as const).some(
      (type) => this.get(type, taskId, epoch) !== undefined,
    );
  }
}
