// Prepares the command line for commander. Pure.

export interface Argv {
  readonly args: string[];
  /** The words after a bare `--`: the argv of a program, or null without `--`. */
  readonly program: string[] | null;
}

const RUN_VERBS = new Set([
  "get",
  "cancel",
  "pause",
  "resume",
  "answer",
  "approve",
  "reject",
  "changes",
  "events",
]);
const RUN_ID = /^run_[a-z0-9]+$/;

/**
 * `run "<intent>"` and `run get <id>` share a verb. The second reading needs a run id or a request for help, so
 * `run get the tests green` starts an intent and `run get run_abc` shows a run.
 */
export function prepare(argv: readonly string[]): Argv {
  const bare = argv.indexOf("--");
  const args = bare === -1 ? [...argv] : argv.slice(0, bare);
  const program = bare === -1 ? null : argv.slice(bare + 1);
  const [first, second, ...rest] = args;
  if (first === "run" && second !== undefined && RUN_VERBS.has(second)) {
    const asksForHelp = rest.length === 0 || rest[0] === "--help" || rest[0] === "-h";
    if (asksForHelp || rest.some((word) => RUN_ID.test(word))) return { args: [second, ...rest], program };
  }
  return { args, program };
}
