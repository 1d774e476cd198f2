// A refused field of an intent, named as the flag that was typed. Pure.
import { ERRORS } from "@antiphon/contracts/errors";
import { RUN_OPTIONS } from "@antiphon/contracts/runs/run-options";
import type { RunFlag } from "@antiphon/contracts/runs/run-options";
import { Failure } from "../failure.ts";

/** The gateway names a field by its path: `/constraints/egress/mode`. Unchanged if no flag stands for it. */
export function asFlag(refused: Failure): Failure {
  const failure = withoutRun(refused);
  const { path } = failure.data;
  if (typeof path !== "string" || !isOfOption(failure.code, path)) return failure;
  const found = flagOf(path);
  if (found === null || !failure.message.startsWith(`${path}: `)) return failure;
  const message = `${found}: ${failure.message.slice(path.length + 2)}`;
  const { exitCode, data, cause } = failure;
  return new Failure(failure.code, message, {
    // The general remedy speaks of fields, and the person typed a flag.
    remedy:
      failure.remedy === ERRORS.ANT_INTENT_OPTIONS.remedy ? "antiphon run --help shows how" : failure.remedy,
    exitCode,
    data,
    cause,
  });
}

/** A code such as that of an invalid plan stands for a failed run as well; here there is none, and the exit code says so. */
function withoutRun(failure: Failure): Failure {
  const { code, message, remedy, data, cause, exitCode } = failure;
  const { httpStatus } = data;
  const isRefused = typeof httpStatus === "number" && httpStatus >= 400 && httpStatus < 500;
  return exitCode === 1 && isRefused
    ? new Failure(code, message, { remedy, data, cause, exitCode: 2 })
    : failure;
}

/** The image of a task is named in a plan, not by a flag. */
function isOfOption(code: string, path: string): boolean {
  return (
    code === "ANT_INTENT_OPTIONS" ||
    (code === "ANT_SANDBOX_IMAGE_NOT_ALLOWED" && !path.startsWith("/inputs/tasks/"))
  );
}

function flagOf(path: string): string | null {
  const [, , name = "", field] = path.split("/");
  if (!Object.hasOwn(RUN_OPTIONS, name)) return null;
  const rows: readonly RunFlag[] = RUN_OPTIONS[name as keyof typeof RUN_OPTIONS].flags;
  // The agent's flags belong to several kinds, so a path below it does not tell which was typed.
  const row = name === "agent" ? undefined : rows.find((one) => one.field === null || one.field === field);
  return row?.flag.split(" ", 1)[0] ?? null;
}
