/** A setup that failed, as an error that says what is known of it, and whose remedy begins with what fits. Pure. */
import { AntiphonError, type EnvironmentReport } from "@antiphon/contracts";

export class EnvironmentFailed extends AntiphonError {
  readonly report: EnvironmentReport | null;

  constructor(message: string, report: EnvironmentReport | null) {
    super("ANT_ENVIRONMENT_FAILED", message, { remedy: remedyFor(report) });
    this.report = report;
  }
}

/** The message names the download. */
function remedyFor(report: EnvironmentReport | null): string {
  const { refused = 0, first_failed } = report?.egress ?? {};
  if (refused > 0)
    return "Have the operator allow what was refused (docs/guides/egress.md), or choose an image that has it (--image).";
  if (first_failed !== undefined)
    return "Try again when the host answers, or choose an image that has what is downloaded (--image).";
  return "Correct the `setup` in antiphon.yaml, or choose an image that has what it needs (--image).";
}
