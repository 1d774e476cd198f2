/** All that a judgement rests on: how the checks ended in each clean room, what is known of the change, and what is demanded. */
import type { Demand } from "./demand.ts";
import type { Trials } from "./trials.ts";

/** Of the rooms besides the changed tree, each is null if the checks were not tried there. */
export interface Trial {
  /** The checks on the tree that is to become the head, once for each trial. */
  readonly change: Trials;
  /** The checks on the tree without the change. Also null if they did not end in time. */
  readonly base: Trials | null;
  /** The checks on the base without the files that the change touches. */
  readonly hollow: Trials | null;
  /** The checks without any file. Null if they depend on files. */
  readonly emptied: Trials | null;
  /** Files that the change adds on the side that judges, and data that it changes there. */
  readonly judges: readonly string[];
  /**
   * The checks on the changed tree without `judges`. Null if there are none, or if only plain tests are missing and that
   * alone may be why the checks fail.
   */
  readonly withoutJudges: Trials | null;
  /** The tests that the change brings and its checks run. Null if it brings none. */
  readonly own: OwnProof | null;
  /** What the reports of the test runners lack, in clauses. */
  readonly unreported: readonly string[];
  /** Sources of the change that know they are being tested, in clauses. */
  readonly aware: readonly string[];
  /** What the change's code did to the files that judge it, in clauses. */
  readonly tampering: readonly string[];
  /** Program text that the change leaves in the tree (git/src/protection/sources.ts). */
  readonly sources: readonly string[];
  /** The change only removes files, sources among them, so the base without its files is the changed tree. */
  readonly removes: boolean;
  /** Sources that the change edits and the checks run. If there are any, `base` is not null. */
  readonly unproven: readonly { path: string; why: string }[];
  readonly demand: Demand;
  /** The task may only read, or had nothing to change, so it needs no check. */
  readonly readOnly: boolean;
  /** What the task delivered, in a clause; its checks then decide nothing. Null: it delivers its change. */
  readonly delivered: string | null;
  /** Acceptance criteria that no check decides. */
  readonly undecided: readonly string[];
  readonly allowUnverified: boolean;
}

export interface OwnProof {
  readonly tests: readonly string[];
  /** The checks with these tests on the sources of the base. Null: the change is its tests and has no sources. */
  readonly onBase: Trials | null;
}
