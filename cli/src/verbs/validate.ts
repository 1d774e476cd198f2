// antiphon validate <file>: does a document have the shape of its contract?
import { basename } from "node:path";
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { Failure } from "../failure.ts";
import { readText } from "../run-files.ts";

export const addValidate: AddVerb = (program, context) => {
  program
    .command("validate")
    .summary("check a JSON or YAML document against its contract")
    .argument("<file>", "the document; - is stdin")
    .option("--schema <name>", "the contract; without it, guessed from the document")
    .option("--json", "one JSON object on stdout")
    .addHelpText(
      "after",
      examples(["antiphon validate intent.json", "antiphon validate tasks/T-001.yaml --schema TaskContract"]),
    )
    .action(async (file: string, options: { schema?: string; json?: boolean }) => {
      const { check } = await import("../document-check.ts");
      const outcome = await check(readText(file), options.schema ?? null);
      if (outcome.ok) {
        if (options.json === true) return context.screen.json({ ok: true, schema: outcome.schema });
        return context.screen.out(`${basename(file)} is a valid ${outcome.schema}`);
      }
      const [first] = outcome.errors;
      const where = first?.path === "" ? "the document" : first?.path;
      const hint = first?.hint === undefined ? "" : `; ${first.hint}`;
      throw new Failure(
        "ANT_CONTRACT_INVALID",
        `${file}: not a valid ${outcome.schema}: ${where}: ${first?.message}, found ${first?.found}${hint}`,
        {
          remedy: `antiphon explain ${outcome.schema}`,
          data: { schema: outcome.schema, errors: outcome.errors },
        },
      );
    });
};
