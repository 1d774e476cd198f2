// The command by which a person takes the change of a failed run after all, without paying for its agent once more. Pure.
import type { ErrorCode } from "@antiphon/contracts";
import { quoted } from "../checks/command-line.ts";
import type { RunSummary } from "./summary.ts";

/** The option that lets a change land, by the code that refused it. Protected paths need grants instead, which the message names. */
const NEEDED: Partial<Record<ErrorCode, string>> = {
  ANT_VERIFY_CRITERION: "--require-approval",
  ANT_VERIFY_OWN_TESTS: "--require-approval",
  ANT_VERIFY_PROVES_NOTHING: "--allow-unproven",
  ANT_VERIFY_TEST_AWARE: "--require-approval",
  ANT_VERIFY_UNREPORTED: "--require-approval",
  ANT_VERIFY_UNTESTED: "--require-approval",
};

/** Null: nothing that a person may say lets the change land, or the run has several tasks. */
export function consent({ runId, status, code, tasks }: RunSummary): string | null {
  const [task, another] = tasks;
  if (status !== "failed" || code === null || task?.evidence == null || another !== undefined) return null;
  const needed =
    code === "ANT_PATCH_PROTECTED"
      ? grantsFor(task.message ?? "").join(" ")
      : (NEEDED[code as ErrorCode] ?? "");
  return needed === "" ? null : `antiphon run --patch ${runId} ${needed}`;
}

/** `a.test.js: protected: a test; b.test.js: protected: a test`: a grant for each. A name that holds `; ` gets one that opens nothing. */
function grantsFor(message: string): string[] {
  const paths = message.split("; ").flatMap((part) => /^(.+?): protected: /.exec(part)?.[1] ?? []);
  return [...new Set(paths)].map((path) => `--grant ${quoted(literal(path))}`);
}

/** The glob of one path. */
const literal = (path: string): string => path.replace(/[*?{}\\]/g, "\\$&");
