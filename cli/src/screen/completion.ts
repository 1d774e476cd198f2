// Generates completion scripts from the command tree. Pure, except that it reads commander's objects.
import type { Command } from "commander";

export interface CommandNode {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly {
    readonly flag: string;
    readonly description: string;
    readonly choices: readonly string[];
  }[];
  readonly children: readonly CommandNode[];
}

export function commandTree(command: Command): CommandNode {
  return {
    name: command.name(),
    summary: command.summary(),
    options: command.options.flatMap((option) =>
      option.long === undefined || option.long === null
        ? []
        : [{ flag: option.long, description: option.description, choices: option.argChoices ?? [] }],
    ),
    children: command.commands.map(commandTree),
  };
}

export function completionScript(shell: "bash" | "zsh" | "fish", tree: CommandNode): string {
  if (shell === "fish") return fish(tree);
  return shell === "bash" ? bash(tree) : zsh(tree);
}

function words(node: CommandNode): string {
  return [
    ...node.children.map((child) => child.name),
    ...node.options.map((option) => option.flag),
    "--help",
  ].join(" ");
}

function choices(tree: CommandNode): { flag: string; values: string }[] {
  const all = tree.children.flatMap((child) => child.options).filter((option) => option.choices.length > 0);
  return all.map((option) => ({ flag: option.flag, values: option.choices.join(" ") }));
}

function bash(tree: CommandNode): string {
  const verbs = tree.children.flatMap((verb) => [
    ...verb.children.map((child) => `    "${verb.name} ${child.name}"*) words="${words(child)}" ;;`),
    `    "${verb.name}"*) words="${words(verb)}" ;;`,
  ]);
  return `# bash completion of antiphon
_antiphon() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" words
  case "$prev" in
${choices(tree)
  .map(({ flag, values }) => `    ${flag}) COMPREPLY=($(compgen -W "${values}" -- "$cur")); return ;;`)
  .join("\n")}
    --repo|--out|--state-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --patch|--tasks|--recording) COMPREPLY=($(compgen -f -- "$cur")); return ;;
  esac
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1}" in
${verbs.join("\n")}
    *) words="${words(tree)}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _antiphon antiphon
`;
}

function zsh(tree: CommandNode): string {
  return `#compdef antiphon
autoload -U +X bashcompinit && bashcompinit
${bash(tree)}`;
}

function fish(tree: CommandNode): string {
  const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const verb = (node: CommandNode): string[] => [
    `complete -c antiphon -n __fish_use_subcommand -f -a ${node.name} -d ${quote(node.summary)}`,
    ...node.children.map(
      (child) =>
        `complete -c antiphon -n '__fish_seen_subcommand_from ${node.name}' -f -a ${child.name} -d ${quote(child.summary)}`,
    ),
    ...node.options.map((option) => {
      const values = option.choices.length === 0 ? "" : ` -x -a ${quote(option.choices.join(" "))}`;
      return `complete -c antiphon -n '__fish_seen_subcommand_from ${node.name}' -l ${option.flag.slice(2)} -d ${quote(option.description)}${values}`;
    }),
  ];
  return `# fish completion of antiphon\n${tree.children.flatMap(verb).join("\n")}\n`;
}
