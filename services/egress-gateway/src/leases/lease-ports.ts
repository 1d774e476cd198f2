/** What leases need of their gateway. */
import type { BlobRef } from "@antiphon/contracts";
import type { Logger, Meter } from "@antiphon/runtime";
import type { BudgetStore } from "../models/budget-store.ts";
import type { EgressSettings } from "../config.ts";
import type { Deadlines } from "../proxy/deadlines.ts";
import type { CheckpointStore } from "../checkpoints/lease-checkpoints.ts";
import type { CallLists } from "../models/call-list.ts";

export interface LeasePorts {
  /** The settings for a new listener. */
  readonly settings: () => EgressSettings;
  readonly budgets: BudgetStore;
  /** Where the calls of attempts under way are listed. Default: nowhere, and an attempt after a lost one asks anew. */
  readonly lists?: CallLists;
  /** Where programs leave checkpoints. Default: nowhere. */
  readonly checkpoints?: CheckpointStore;
  /** Stores bytes under their own digest. */
  readonly store: (bytes: Buffer) => Promise<BlobRef>;
  /** Reads a recording of a model call. */
  readonly read: (recording: BlobRef, signal?: AbortSignal) => Promise<Buffer>;
  readonly node: string;
  readonly meter: Meter;
  readonly log: Logger;
  readonly now: () => number;
  /** Default: DEADLINES. */
  readonly deadlines?: Deadlines;
  /** The longest answer of a model, in bytes. Default: limits.modelAnswerBytes. */
  readonly answerBytes?: number;
}
