import { AntiphonError, type EnvironmentReport } from "@antiphon/contracts";

/** The repository's setup failed. The report has its log. */
export class EnvironmentFailure extends AntiphonError {
  readonly report: EnvironmentReport;

  constructor(message: string, report: EnvironmentReport) {
    super("ANT_ENVIRONMENT_FAILED", message);
    this.report = report;
  }
}
