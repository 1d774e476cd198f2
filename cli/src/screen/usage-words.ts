// Says in plain words what is wrong with a command line, from the messages of commander. Pure.
import type { CommanderError } from "commander";
import { otherName } from "./other-names.ts";

export interface UsageWords {
  readonly message: string;
  /** The command that was probably meant, or another hint of commander; null: there is none. */
  readonly hint: string | null;
}

/** @param args the command line */
export function usageWords(
  { message }: Pick<CommanderError, "message">,
  args: readonly string[],
): UsageWords {
  const [first = "", ...hints] = message.replace(/^error: /, "").split("\n");
  const hint = hints
    .join(" ")
    .replace(/^\(|\)$/g, "")
    .trim();
  const [, unknown] = UNKNOWN.exec(first) ?? [];
  const meant = unknown === undefined ? null : otherName(args, unknown);
  if (meant !== null) return { message: first, hint: `Did you mean antiphon ${meant}?` };
  return { message: plain(first), hint: hint === "" ? null : hint };
}

const UNKNOWN = /^unknown command '(.+)'$/;

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
