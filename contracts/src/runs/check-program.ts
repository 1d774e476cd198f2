/** The program that a check starts, and whether it was missing. Pure. */

const PROGRAM = /^[A-Za-z0-9_][\w.+-]*(?=\s|$)/;
const NOT_FOUND = /: (?:command )?not found$/;

/** The first word of a check, if it is the name of a program alone. No change brings such a program along; a path may be a file
 * that the agent is about to write. */
export const programOf = (check: string): string | null => PROGRAM.exec(check.trim())?.[0] ?? null;

/** `python3 -m pytest`, perhaps with variables before it and flags without a value. */
const OF_PYTHON =
  /^(?:[A-Za-z_]\w*=[^\s"'$`;&|()]*\s+)*(?:[\w./-]*\/)?python[\d.]*(?:\s+-[A-Za-z]+)*\s+-m\s+([\w-]+)(?=\s|$)/;

/** Modules that are installed. Another one may be a file of the repository, which a change can bring along. */
const PYTHON_PROGRAMS: ReadonlySet<string> = new Set([
  ...["pytest", "tox", "nox", "nose", "nose2", "coverage", "behave"],
  ...[
    "mypy",
    "pyright",
    "ruff",
    "flake8",
    "pylint",
    "black",
    "isort",
    "bandit",
    "build",
    "pip",
    "poetry",
    "pipenv",
    "hatch",
    "uv",
  ],
]);

const NO_MODULE = /^(?:[\w./-]*\/)?python[\d.]*: No module named ([\w-]+)$/;

/**
 * The program for lack of which a check could not start; `said`: the end of its error output. Null: it started, or may have. Of
 * `python -m X` the interpreter itself has to say that it lacks X, and nothing else: a test that lacks a module ends with a traceback.
 */
export function missingProgram(check: string, exitCode: number | null, said: string): string | null {
  if (exitCode === 1) return missingModule(check, said);
  const program = programOf(check);
  if (exitCode !== 127 || program === null) return null;
  const isTold = said.split("\n").some((line) => NOT_FOUND.test(line) && line.includes(`${program}: `));
  return isTold ? program : null;
}

function missingModule(check: string, said: string): string | null {
  const module = OF_PYTHON.exec(check.trim())?.[1];
  if (module === undefined || !PYTHON_PROGRAMS.has(module)) return null;
  return NO_MODULE.exec(said.trim())?.[1] === module ? module : null;
}
