// A failure as the CLI reports it: code, message, remedy and exit code.
import { AntiphonError, ERRORS, isErrorCode } from "@antiphon/contracts/errors";

export interface FailureDetails {
  readonly remedy?: string;
  readonly exitCode?: number;
  readonly data?: Record<string, unknown>;
  readonly cause?: unknown;
}

/** An unknown code, from a gateway of another version, is kept unchanged. */
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
    const ofSystem = systemFailure(thrown);
    if (ofSystem !== null) return ofSystem;
    const error = AntiphonError.from(thrown);
    const { code, detail, data, cause, remedy } = error;
    return new Failure(code, detail, { data, cause, remedy });
  }

  /** The same with the id of the run that the command line names, where the remedy leaves it open. */
  about(args: readonly string[]): Failure {
    const [id, ...others] = new Set(args.filter((word) => /^run_[a-z0-9]{1,32}$/.test(word)));
    if (id === undefined || others.length > 0 || !this.remedy.includes("<runId>")) return this;
    const { code, exitCode, data, cause } = this;
    return new Failure(code, this.message, {
      remedy: this.remedy.replaceAll("<runId>", id),
      exitCode,
      data,
      cause,
    });
  }

  toJSON(): { error: Record<string, unknown> } {
    return { error: { code: this.code, message: this.message, remedy: this.remedy, ...this.data } };
  }
}

const DENIED: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** Maps an error of the file system to a failure with its own remedy. Null: it is another kind of error. */
function systemFailure(thrown: unknown): Failure | null {
  if (!(thrown instanceof Error)) return null;
  const { code = "", path = "", syscall, message } = thrown as NodeJS.ErrnoException;
  const place = path === "" ? "" : `${path}: `;
  const isFile = syscall === "mkdir" && (code === "EEXIST" || code === "ENOTDIR");
  const why = isFile
    ? "a file is in the place of the directory"
    : message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?$/, "");
  // If a directory cannot be created, for any reason but a full disk, the remedy is to choose another one.
  const cannotBeMade = syscall === "mkdir" && !FULL.has(code);
  if (DENIED.has(code) || cannotBeMade)
    return new Failure("ANT_STATE_UNWRITABLE", `${place}${why}`, { cause: thrown });
  return FULL.has(code) ? new Failure("ANT_STATE_DISK_FULL", `${place}${why}`, { cause: thrown }) : null;
}

/** Replaced by the help of the command that was called (main.ts). */
export const ANY_HELP = "antiphon --help shows how";

export function usage(message: string, remedy = ANY_HELP): Failure {
  return new Failure("ANT_USAGE", message, { remedy, exitCode: 2 });
}
