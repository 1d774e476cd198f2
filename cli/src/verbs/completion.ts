// antiphon completion <shell>: completion scripts, generated from the command tree.
import { Argument } from "commander";
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

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
        "antiphon completion fish > ~/.config/fish/completions/antiphon.fish",
      ]),
    )
    .action(async (shell: (typeof SHELLS)[number], options: { json?: boolean }) => {
      const { commandTree, completionScript } = await import("../screen/completion.ts");
      const tree = commandTree(program);
      if (options.json === true) return context.screen.json(tree);
      context.screen.out(completionScript(shell, tree));
    });
};
