// antiphon explain [name]: describes a contract field by field, or an error code.
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";

export const addExplain: AddVerb = (program, context) => {
  program
    .command("explain")
    .summary("describe a document format (contract) field by field, or an error code")
    .argument(
      "[name]",
      "a contract (DirectorTask, Intent.v0, journal.dispatch) or an error code (ANT_...); lists all if omitted",
    )
    .option("--json", "print the JSON Schema, or the error code's entry")
    .addHelpText(
      "after",
      examples([
        "antiphon explain Intent",
        "antiphon explain RunOptions --json",
        "antiphon explain ANT_REPO_DIRTY",
      ]),
    )
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const { explain } = await import("../screen/explain.ts");
      const { lines, json } = explain(name ?? null);
      if (options.json === true) return context.screen.json(json);
      for (const line of lines) context.screen.out(line);
    });
};
