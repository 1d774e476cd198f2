/** Ends a task before its first attempt, for a reason that no attempt can mend. The evidence holds what the base showed. */
import { AntiphonError, type ErrorCode, type EvidenceRef } from "@antiphon/contracts";

export class Undispatched extends AntiphonError {
  readonly evidence: EvidenceRef;

  constructor(code: ErrorCode, message: string, evidence: EvidenceRef) {
    super(code, message);
    this.evidence = evidence;
  }
}
