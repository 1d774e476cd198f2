/** The program that a check starts, and whether it was missing. Pure. */

const PROGRAM = /^[A-Za-z0-9_][\w.+-]*(?=\s|$)/;
const NOT_FOUND = /: (?:command )?not found$/;

/** The first word of a check, if it is the name of a program alone. No change brings such a program along; a path may be a file
 * that the agent is about to write. */
export const programOf = (check: string): string | null => PROGRAM.exec(check.trim())?.[0] ?? null;

/** The program for lack of which a check could not start; `said`: the end of its error output. Null: it started, or may have. */
export function missingProgram(check: string, exitCode: number | null, said: string): string | null {
  const program = programOf(check);
  if (exitCode !== 127 || program === null) return null;
  const isTold = said.split("\n").some((line) => NOT_FOUND.test(line) && line.includes(`${program}: `));
  return isTold ? program : null;
}
