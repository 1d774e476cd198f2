// antiphon completion <shell>: prints a completion script.
import { Argument } from "commander";
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { SHELLS } from "../completion/shell-scripts.ts";
import type { Shell } from "../completion/shell-scripts.ts";

export const addCompletion: AddVerb = (program, context) => {
  program
    .command("completion")
    .summary("print a completion script for your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .option("--json", "print the command tree as one JSON object")
    .addHelpText(
      "after",
      examples([
        "source <(antiphon completion bash)",
        "source <(antiphon completion zsh)",
        "antiphon completion fish > ~/.config/fish/completions/antiphon.fish",
      ]),
    )
    .action(async (shell: Shell, options: { json?: boolean }) => {
      const { commandTree } = await import("../completion/command-tree.ts");
      const { completionScript } = await import("../completion/shell-scripts.ts");
      if (options.json === true) return context.screen.json(commandTree(program));
      context.screen.document(`${completionScript(shell)}\n`);
    });
};
