/** What no attempt can mend, found before there was one. The evidence holds what was seen. */
import { AntiphonError, type ErrorCode, type EvidenceRef } from "@antiphon/contracts";

export class Undispatched extends AntiphonError {
  readonly evidence: EvidenceRef;

  constructor(code: ErrorCode, message: string, evidence: EvidenceRef) {
    super(code, message);
    this.evidence = evidence;
  }
}
