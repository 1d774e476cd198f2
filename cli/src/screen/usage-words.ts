// Says in plain words what is wrong with a command line, from the messages of commander. Pure.
import type { CommanderError } from "commander";

export interface UsageWords {
  readonly message: string;
  /** Commander's own hint, such as the command that was probably meant; null: it has none. */
  readonly hint: string | null;
}

export function usageWords({ message }: Pick<CommanderError, "message">): UsageWords {
  const [first = "", ...hints] = message.replace(/^error: /, "").split("\n");
  const hint = hints
    .join(" ")
    .replace(/^\(|\)$/g, "")
    .trim();
  return { message: plain(first), hint: hint === "" ? null : hint };
}

/** `--status <status>`, or `-s, --status <status>`: `--status`. */
const nameOf = (flags: string): string => /--[\w-]+/.exec(flags)?.[0] ?? flags;

const WORDS: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/^\(outputHelp\)$/, () => "a further word is missing"],
  [/^option '(.+)' argument missing$/, (_, flags = "") => `${nameOf(flags)} needs a value: ${flags}`],
  [/^required option '(.+)' not specified$/, (_, flags = "") => `${flags} is missing`],
  [/^missing required argument '(.+)'$/, (_, name = "") => `<${name}> is missing`],
  [
    /^option '(.+)' argument '(.*)' is invalid\. Allowed choices are (.+)\.$/,
    (_, flags = "", given = "", choices = "") =>
      `${nameOf(flags)} takes one of ${choices}, not ${JSON.stringify(given)}`,
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+)'\. Allowed choices are (.+)\.$/,
    (_, given = "", name = "", choices = "") =>
      `<${name}> is one of ${choices}, not ${JSON.stringify(given)}`,
  ],
];

function plain(message: string): string {
  for (const [pattern, say] of WORDS) {
    const found = pattern.exec(message);
    if (found !== null) return say(...found);
  }
  return message;
}
