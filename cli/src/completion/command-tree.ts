// The command tree as data, for completion.
import type { Command } from "commander";

export interface OptionNode {
  readonly flag: string;
  readonly description: string;
  /** The name of its value, such as `path`; null: it takes none. */
  readonly value: string | null;
  readonly choices: readonly string[];
}

export interface CommandNode {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionNode[];
  /** In their order; the last one may be repeated. */
  readonly arguments: readonly { readonly name: string; readonly choices: readonly string[] }[];
  readonly children: readonly CommandNode[];
}

/** The command that the shells call; no person types it. */
export const COMPLETE = "complete";

export function commandTree(command: Command): CommandNode {
  const options = command.options.filter(({ hidden, long }) => !hidden && typeof long === "string");
  return {
    name: command.name(),
    summary: command.summary(),
    options: options.map(({ long, flags, description, argChoices }) => ({
      flag: long ?? "",
      description,
      value: /[<[]([\w-]+)/.exec(flags)?.[1] ?? null,
      choices: argChoices ?? [],
    })),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      choices: argument.argChoices ?? [],
    })),
    children: command.commands.filter((child) => child.name() !== COMPLETE).map(commandTree),
  };
}
