// What went wrong, as the CLI tells it: a code, what happened, what to do, and the exit code.
import { AntiphonError, ERRORS, isErrorCode } from "@antiphon/contracts/errors";

export interface FailureDetails {
  readonly remedy?: string;
  readonly exitCode?: number;
  readonly data?: Record<string, unknown>;
  readonly cause?: unknown;
}

/** Codes that the gateway of another version may send are kept as they are. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: string;
  readonly remedy: string;
  /** 1 run failed, 2 usage, 3 needs input, 4 unreachable. */
  readonly exitCode: number;
  readonly data: Record<string, unknown>;

  constructor(code: string, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    const entry = isErrorCode(code) ? ERRORS[code] : null;
    this.code = code;
    this.remedy = details.remedy ?? entry?.remedy ?? "";
    this.exitCode = details.exitCode ?? entry?.exitCode ?? 1;
    this.data = details.data ?? {};
  }

  static from(thrown: unknown): Failure {
    if (thrown instanceof Failure) return thrown;
    const error = AntiphonError.from(thrown);
    return new Failure(error.code, error.detail, { data: error.data, cause: error.cause });
  }

  toJSON(): { error: Record<string, unknown> } {
    return { error: { code: this.code, message: this.message, remedy: this.remedy, ...this.data } };
  }
}

export function usage(message: string, remedy = "antiphon --help shows how"): Failure {
  return new Failure("ANT_USAGE", message, { remedy, exitCode: 2 });
}
