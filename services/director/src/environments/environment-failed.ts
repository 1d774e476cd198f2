/** A setup that failed, as an error that says what is known of it. */
import { AntiphonError, type EnvironmentReport } from "@antiphon/contracts";

export class EnvironmentFailed extends AntiphonError {
  readonly report: EnvironmentReport | null;

  constructor(message: string, report: EnvironmentReport | null) {
    super("ANT_ENVIRONMENT_FAILED", message);
    this.report = report;
  }
}
