/** The kinds of damage a journal can have, where a fault is, and how to repair it. */
import type { ErrorCode } from "@antiphon/contracts";

/** kind: error code and remedy. */
const KINDS = {
  altered: [
    "ANT_JOURNAL_CORRUPT",
    "Restore this record from a backup or a replica of the stream; until then nothing reads the run. The other runs are not affected.",
  ],
  truncated: [
    "ANT_JOURNAL_CORRUPT",
    "Restore this record from a backup or a replica of the stream; until then nothing reads the run.",
  ],
  unreadable: [
    "ANT_JOURNAL_CORRUPT",
    "The block on the server's disk is damaged: make a copy of the store before the server is started again (it may cut the block off there), then restore the record from a backup or a replica.",
  ],
  twice: [
    "ANT_JOURNAL_CORRUPT",
    "Somebody wrote past the expectation that guards a register: remove the message that the chain does not name (`nats stream rmm`), and find out who may publish there.",
  ],
  missing: [
    "ANT_JOURNAL_GAP",
    "Restore this record from a backup or a replica of the stream. A lost landing mostly need not be restored: try `antiphon doctor --journal --rebuild`.",
  ],
  seal: [
    "ANT_JOURNAL_GAP",
    "A record that no other one names (cancel, input, control, requeue, due) is gone or was changed: compare the run with a backup. Sequences that the stream lacks, if any, are listed with it.",
  ],
  lost: ["ANT_JOURNAL_GAP", "Compare the stream with a backup or a replica, and restore what is missing."],
  archive: [
    "ANT_ARCHIVE_CORRUPT",
    "The run's records were purged when they were archived: restore the object in ANT_ARCHIVE from a backup.",
  ],
  forged: [
    "ANT_SIGNATURE_INVALID",
    "Do not act on this decision; no service did. If the key is your Director's, trust it (docs/guides/keys.md). If not: find out who may publish to NATS, then remove the message (`nats stream rmm`).",
  ],
  misplaced: [
    "ANT_JOURNAL_ORDER",
    "Report it with `antiphon events <runId> --json`: no service of this version writes records in this order.",
  ],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export type FaultKind = keyof typeof KINDS;

export interface JournalFault {
  readonly kind: FaultKind;
  readonly code: ErrorCode;
  /** Null for a fault of the stream as a whole. */
  readonly runId: string | null;
  /** The register; null when it cannot be determined. */
  readonly subject: string | null;
  /** Stream sequence; null when it cannot be determined. */
  readonly seq: number | null;
  readonly expected: string;
  readonly found: string;
  readonly remedy: string;
}

export function journalFault(
  kind: FaultKind,
  where: Pick<JournalFault, "runId" | "subject" | "seq">,
  { expected, found }: Pick<JournalFault, "expected" | "found">,
): JournalFault {
  const [code, remedy] = KINDS[kind];
  return { kind, code, ...where, expected, found, remedy };
}
