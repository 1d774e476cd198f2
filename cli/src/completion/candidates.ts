// What may come next on a command line. Pure.
import type { CommandNode, OptionNode } from "./command-tree.ts";

export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** `kind` names what only the shell, the gateway or the contracts know. */
export type Candidates =
  | { readonly kind: "words"; readonly words: readonly Candidate[] }
  | { readonly kind: "files" }
  | { readonly kind: "directories" }
  | { readonly kind: "runs" }
  | { readonly kind: "names" };

const NOTHING: Candidates = { kind: "words", words: [] };

/** Values of options that the gateway checks, so that a new gateway may know more of them. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "--agent": ["scripted", "command", "replay"],
  "--gate": ["reviewer", "qa"],
  "--gate-severity": ["error", "warning", "info"],
  "--egress": ["none", "git+pkg", "allowlist"],
  "--workflow": ["BUILD", "DEBUG", "REVIEW", "PLAN"],
};

/** Kinds of values by the names in the help. */
const KINDS: Readonly<Record<string, Candidates>> = {
  path: { kind: "directories" },
  dir: { kind: "directories" },
  file: { kind: "files" },
  runId: { kind: "runs" },
  name: { kind: "names" },
};

/** `words`: those after the name of the program; the last one is being typed and may be empty. */
export function candidates(tree: CommandNode, words: readonly string[]): Candidates {
  const [current = "", ...before] = joined(words).toReversed();
  before.reverse();
  if (before.includes("--")) return { kind: "files" };
  const { node, open, given } = position(tree, before);
  const [flag, value] = current.startsWith("--") ? current.split("=", 2) : [current];
  const option = open ?? node.options.find((one) => one.flag === flag && value !== undefined);
  if (option !== undefined && option !== null)
    return ofOption(option, open === null ? `${option.flag}=` : "");
  if (current.startsWith("-")) return { kind: "words", words: optionWords(node) };
  if (node.children.length > 0) {
    const children = node.children.map(({ name, summary }) => ({ word: name, description: summary }));
    return { kind: "words", words: children };
  }
  return ofArgument(node, given);
}

/** Bash splits at `=`: `--flag`, `=`, `value`. */
function joined(words: readonly string[]): string[] {
  const whole: string[] = [];
  for (const [i, word] of words.entries()) {
    const isValue = word === "=" || (i > 0 && words[i - 1] === "=");
    if (isValue && whole.at(-1)?.startsWith("--") === true) {
      if (word !== "=" || i === words.length - 1) whole.push(word === "=" ? "" : word);
    } else whole.push(word);
  }
  return whole;
}

interface Position {
  readonly node: CommandNode;
  /** The option whose value comes next. */
  readonly open: OptionNode | null;
  /** The number of arguments of the command so far. */
  readonly given: number;
}

function position(tree: CommandNode, before: readonly string[]): Position {
  let node = tree;
  let open: OptionNode | null = null;
  let given = 0;
  for (const word of before) {
    if (open !== null) open = null;
    else if (word.startsWith("-"))
      open = node.options.find(({ flag, value }) => flag === word && value !== null) ?? null;
    else {
      const child: CommandNode | undefined = node.children.find(({ name }) => name === word);
      if (child === undefined) given += 1;
      else node = child;
    }
  }
  return { node, open, given };
}

/** `prefix`: what the shell counts to the same word. */
function ofOption({ flag, value, choices }: OptionNode, prefix: string): Candidates {
  const known = choices.length > 0 ? choices : (VALUES[flag] ?? []);
  if (known.length > 0)
    return { kind: "words", words: known.map((word) => ({ word: prefix + word, description: "" })) };
  return (prefix === "" ? KINDS[value ?? ""] : undefined) ?? NOTHING;
}

function ofArgument(node: CommandNode, given: number): Candidates {
  const argument = node.arguments[given];
  if (argument === undefined) return NOTHING;
  const { name, choices } = argument;
  if (choices.length > 0) return { kind: "words", words: choices.map((word) => ({ word, description: "" })) };
  return KINDS[name] ?? NOTHING;
}

function optionWords({ options }: CommandNode): Candidate[] {
  const help = { word: "--help", description: "show this help" };
  return [...options.map(({ flag, description }) => ({ word: flag, description })), help];
}
