/** A setup that failed, as an error that says what is known of it. */
import { AntiphonError, type EnvironmentReport, type EvidenceRef } from "@antiphon/contracts";

export class EnvironmentFailed extends AntiphonError {
  readonly report: EnvironmentReport | null;

  constructor(message: string, report: EnvironmentReport | null) {
    super("ANT_ENVIRONMENT_FAILED", message);
    this.report = report;
  }
}

/** The setup failed before there was an attempt. The evidence holds its log. */
export class UndispatchedSetup extends EnvironmentFailed {
  readonly evidence: EvidenceRef;

  constructor({ detail, report }: EnvironmentFailed, evidence: EvidenceRef) {
    super(detail, report);
    this.evidence = evidence;
  }
}
