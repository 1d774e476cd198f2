/**
 * Passes a filter of tests to a repository's own check, in the way of its test runner. Pure. Null: the runner is not known,
 * or the check does more than to start it, so nobody can tell what the filter would apply to.
 */
import { shellWord } from "./shell-word.ts";

type Way = (command: string, word: string) => string;

/** How each runner takes a filter. The first expression that fits the start of the command decides. */
const RUNNERS: readonly (readonly [RegExp, Way])[] = [
  [/^(?:python3? -m )?pytest(?= |$)/, (command, word) => `${command} -k ${word}`],
  [/^python3? -m unittest(?= |$)/, (command, word) => `${command} -k ${word}`],
  [/^go test(?= |$)/, (command, word) => command.replace("go test", `go test -run ${word}`)],
  [/^cargo test(?= |$)/, (command, word) => command.replace(/(?= -- |$)/, ` ${word}`)],
  [/^node --test(?= |$)/, (command, word) => command.replace("--test", `--test --test-name-pattern=${word}`)],
  [/^(?:npx )?(?:jest|vitest run)(?= |$)/, (command, word) => `${command} -t ${word}`],
  [/^(?:npx )?mocha(?= |$)/, (command, word) => `${command} -g ${word}`],
  [/^(?:npx )?ava(?= |$)/, (command, word) => `${command} --match=${word}`],
];

/** Signs of a shell that runs more than one program, or that gives a program other input. */
const COMPOUND = /[;&|<>`\n]|\$\(/;
const SCRIPTS = /^(?:npm|pnpm|yarn) test$/;

/** `packageJson`: the text of the file; null: there is none. */
export function filteredTest(check: string, filter: string, packageJson: string | null): string | null {
  const word = shellWord(filter);
  if (!SCRIPTS.test(check)) return plain(check, word);
  const scripts = scriptsOf(packageJson);
  const script = scripts["test"];
  if (script === undefined || scripts["pretest"] !== undefined || scripts["posttest"] !== undefined)
    return null;
  const command = plain(script.trim(), word);
  return command === null ? null : `PATH="$PWD/node_modules/.bin:$PATH" ${command}`;
}

function plain(command: string, word: string): string | null {
  if (COMPOUND.test(command)) return null;
  const known = RUNNERS.find(([start]) => start.test(command));
  return known === undefined ? null : known[1](command, word);
}

function scriptsOf(text: string | null): Record<string, string | undefined> {
  let document: unknown;
  try {
    document = JSON.parse(text ?? "null");
  } catch {
    return {}; // The same file without a filter: npm says what is wrong with it.
  }
  const { scripts } = (document ?? {}) as { scripts?: unknown };
  const entries = Object.entries((scripts ?? {}) as Record<string, unknown>);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
