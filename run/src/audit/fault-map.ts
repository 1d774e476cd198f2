/** The faults of one run, at most one for each place: the first kind found stays, later findings are added to its text. */
import type { StoredRecord } from "@antiphon/contracts";
import { journalFault, type FaultKind, type JournalFault } from "./journal-fault.ts";
import type { Held } from "@antiphon/contracts/stored/run-material";

type Told = Pick<JournalFault, "expected" | "found">;

export class FaultMap {
  readonly #runId: string;
  readonly #faults = new Map<string, JournalFault>();

  constructor(runId: string) {
    this.#runId = runId;
  }

  all(): JournalFault[] {
    return [...this.#faults.values()].sort((a, b) => (a.seq ?? Infinity) - (b.seq ?? Infinity));
  }

  knows(subject: string): boolean {
    return [...this.#faults.values()].some((fault) => fault.subject === subject);
  }

  /** Subjects of unreadable records whose sequence is not known. */
  unreadableOnes(): string[] {
    return [...this.#faults.values()].flatMap(({ kind, subject, seq }) =>
      kind === "unreadable" && subject !== null && seq === null ? [subject] : [],
    );
  }

  /** True if the digest of every record under the seal is known, so that the seal can be recomputed. */
  get isSealable(): boolean {
    return [...this.#faults.values()].every(({ kind, seq }) => kind !== "twice" && seq !== null);
  }

  damaged(message: Held): void {
    const { digest, claimed, problem, bytes } = message;
    const isOther = claimed !== "" && claimed !== digest;
    this.#add("altered", message, {
      expected: isOther ? `a payload of digest ${claimed}` : "a journal record that fits its subject",
      found: isOther ? `${bytes} bytes of digest ${digest}` : (problem ?? ""),
    });
  }

  truncated(message: Held): void {
    const found = `${message.bytes} bytes, cut off in the middle of the record`;
    this.#add("truncated", message, { expected: "a whole record", found });
  }

  changed(message: Held, expected: string): void {
    this.#add("altered", message, {
      expected: `the record ${expected}`,
      found: `another one: ${message.digest}`,
    });
  }

  twice(first: Held, second: Held): void {
    this.#add("twice", second, {
      expected: `one record, that of seq ${first.seq} (${first.digest})`,
      found: `another message behind it (${second.digest})`,
    });
  }

  unreadable(subject: string): void {
    const told = { expected: "a record", found: "the server lists it, and does not hand it out" };
    this.#put("unreadable", { subject, seq: null }, told);
  }

  missing(subject: string | null, seq: number | null, expected: string): void {
    if (subject !== null && this.unreadableOnes().includes(subject)) this.place(subject, seq, expected);
    else this.#put("missing", { subject, seq }, { expected: `the record ${expected}`, found: "nothing" });
  }

  /** Adds the sequence of an unreadable record. */
  place(subject: string, seq: number | null, expected: string): void {
    const before = this.#faults.get(placeOf({ subject, seq: null }));
    if (before === undefined) return;
    this.#faults.delete(placeOf({ subject, seq: null }));
    this.#put(before.kind, { subject, seq }, { expected: `the record ${expected}`, found: before.found });
  }

  archive(found: string): void {
    this.#put(
      "archive",
      { subject: null, seq: null },
      { expected: "a pack that its record describes", found },
    );
  }

  misplaced(record: StoredRecord, found: string): void {
    if (this.#hidesOrder()) return; // A missing record makes others look misplaced, so their order proves nothing.
    this.#add("misplaced", record, { expected: "a record in its place", found });
  }

  forged(message: Held, found: string): void {
    const isReport = message.address?.type === "result";
    const expected = isReport
      ? "a report signed by the Associate that claimed the attempt"
      : "a decision signed by a trusted Director";
    this.#add("forged", message, { expected, found });
  }

  sealBroken(closed: Held, seal: string, records: number): void {
    const found = `the ${records} records before it have another seal`;
    this.#put(
      "seal",
      { subject: closed.subject, seq: closed.seq },
      { expected: `records under ${seal}`, found },
    );
  }

  #hidesOrder(): boolean {
    return [...this.#faults.values()].some(({ kind }) => kind !== "misplaced");
  }

  #add(kind: FaultKind, { subject, seq }: { subject: string; seq: number }, told: Told): void {
    this.#put(kind, { subject, seq }, told);
  }

  #put(kind: FaultKind, where: { subject: string | null; seq: number | null }, told: Told): void {
    const place = placeOf(where);
    const before = this.#faults.get(place);
    if (before === undefined) {
      this.#faults.set(place, journalFault(kind, { runId: this.#runId, ...where }, told));
    } else if (!before.found.includes(told.found)) {
      this.#faults.set(place, { ...before, found: `${before.found}; ${told.found}` });
    }
  }
}

function placeOf({ subject, seq }: { subject: string | null; seq: number | null }): string {
  return `${subject ?? "-"} ${seq ?? "-"}`;
}
