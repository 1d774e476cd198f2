/** An invariant of the checker: a name, a sentence, and a pure decision over a history. */
import type { StoredRecord } from "@antiphon/contracts";
import type { ClientCall, ContainerEvent, GitCommit, GitRef, History } from "./history.ts";

export type InvariantId = "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I11" | "I12";

export interface Violation {
  readonly invariant: InvariantId;
  /** The broken rule of the invariant, a stable name. */
  readonly rule: string;
  readonly runId: string | null;
  /** Journal sequences the violation is about. */
  readonly seqs: readonly number[];
  /** Ids of client calls the violation is about. */
  readonly calls: readonly number[];
  readonly what: string;
}

/** A run with everything the history says about it, in order. */
export interface RunFacts {
  readonly runId: string;
  readonly records: readonly StoredRecord[];
  readonly calls: readonly ClientCall[];
  readonly commits: readonly GitCommit[];
  readonly refs: readonly GitRef[];
  readonly containers: readonly ContainerEvent[];
}

export interface Invariant {
  readonly id: InvariantId;
  readonly title: string;
  /** Decides one run; absent if the invariant is about the whole history. */
  readonly ofRun?: (run: RunFacts, history: History) => Violation[];
  readonly ofHistory?: (history: History, runs: ReadonlyMap<string, RunFacts>) => Violation[];
}

type Words = Pick<Violation, "rule" | "what"> & Partial<Violation>;

/** A violation of one invariant about one run. */
export function violation(invariant: InvariantId, runId: string | null, words: Words): Violation {
  return { seqs: [], calls: [], ...words, invariant, runId };
}
