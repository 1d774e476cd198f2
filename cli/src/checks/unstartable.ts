// A check that could not start, which is no fault of the repository's code: what the sandbox lacks, and how to add it. Pure.
import { missingProgram, programOf } from "@antiphon/contracts/runs/check-program";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";
import type { CheckOutcome, CheckReport } from "@antiphon/contracts";
import { Failure } from "../failure.ts";

type Ended = Pick<CheckOutcome, "command" | "exitCode"> & Partial<Pick<CheckOutcome, "tail">>;

/** Null: no program is missing. A check that ran and failed is an answer, which its line tells. */
export function lacking(ended: Ended): Failure | null {
  const { command, exitCode, tail = "" } = ended;
  const program = missingProgram(command, exitCode, tail);
  const check = `the check \`${linesOf(command)[0] ?? ""}\``;
  if (program === null && (exitCode !== 127 || !/not found/.test(tail))) return null;
  const what = program === null ? "a program that the sandbox lacks" : `${program}, which the sandbox lacks`;
  return new Failure("ANT_VERIFY_NO_PROGRAM", `${check} needs ${what}`, {
    remedy: program === null || program === programOf(command) ? ADD_PROGRAM : addModule(program),
  });
}

const ADD_PROGRAM =
  "Correct the check; or use an image that has the program (`antiphon images build --with <toolchains>`, --image); or install it: " +
  "commit an antiphon.yaml whose `setup` does.";

/** Setup finds a requirements.txt by itself (docs/guides/environments.md). */
const addModule = (module: string): string =>
  `Commit a requirements.txt that names ${module}, which is then installed before the checks; or use an image that has it (--image).`;

/** Null: every check could start. */
export function unstartable({ checks }: CheckReport): Failure | null {
  for (const check of checks) {
    const lacks = lacking(check);
    if (lacks !== null) return lacks;
    const { command, exitCode, tail } = check;
    if (exitCode === 126 && /permission denied/i.test(tail))
      return new Failure(
        "ANT_VERIFY_CHECK_FAILED",
        `the check \`${linesOf(command)[0] ?? ""}\` names a file that cannot be executed`,
        {
          remedy:
            "Make the file executable (`git update-index --chmod=+x <file>`), or start it with its interpreter: sh <file>.",
        },
      );
  }
  return null;
}
