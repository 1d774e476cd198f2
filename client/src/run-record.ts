/** A journal record as it comes over HTTP. The OpenAPI document has the envelope; the contracts type its body by `type`. */
import type { JournalRecord } from "@antiphon/contracts";

export type RunRecord = JournalRecord & {
  readonly seq: number;
  readonly digest: string;
  readonly at: string;
  readonly signature?: string;
  readonly traceparent?: string;
};
