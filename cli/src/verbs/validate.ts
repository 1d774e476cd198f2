// antiphon validate <file>: checks a document against its contract.
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { Failure } from "../failure.ts";

export const addValidate: AddVerb = (program, context) => {
  program
    .command("validate")
    .summary("check a JSON or YAML document against its contract")
    .argument("<file>", "the document; - is stdin")
    .option("--schema <name>", "the contract; guessed from the document if omitted")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples(["antiphon validate intent.json", "antiphon validate tasks/T-001.yaml --schema TaskContract"]),
    )
    .action(async (file: string, options: { schema?: string; json?: boolean }) => {
      const { validateDocument } = await import("@antiphon/contracts/documents/document");
      const { schemaNameOf } = await import("@antiphon/contracts/registry/registry");
      const { readText } = await import("../runs/run-files.ts");
      const { schema } = options;
      if (schema !== undefined && schemaNameOf(schema) === null) {
        throw new Failure("ANT_CONTRACT_UNKNOWN", `there is no contract ${JSON.stringify(schema)}`);
      }
      const text = readText(file);
      const outcome = validateDocument(text, {
        filename: file,
        ...(schema === undefined ? {} : { schema }),
      });
      if (outcome.ok) {
        if (!/\.ya?ml$/.test(file) && /^\s*[[{]/.test(text)) requireJson(file, text);
        if (options.json === true) return context.screen.json({ ok: true, schema: outcome.schema });
        return context.screen.out(`${file} is a valid ${outcome.schema}`);
      }
      const [first] = outcome.errors;
      const where = first === undefined ? file : `${file}:${first.line}:${first.column}`;
      const path = first?.path === undefined || first.path === "" ? "" : `${first.path}: `;
      const hint = first?.hint === undefined ? "" : `; ${first.hint}`;
      throw new Failure(
        "ANT_CONTRACT_INVALID",
        `${where}: ${path}${first?.message ?? "not valid"}, found ${first?.found ?? "another value"}${hint}`,
        {
          remedy:
            outcome.schema === null
              ? "name the contract with --schema; `antiphon explain` lists them"
              : `antiphon explain ${outcome.schema}`,
          data: { schema: outcome.schema, errors: outcome.errors },
        },
      );
    });
};

/** Documents are read as YAML, which allows a comma behind the last value and comments; whoever reads it as JSON does not. */
export function requireJson(file: string, text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const why = (error as Error).message;
    throw new Failure("ANT_CONTRACT_INVALID", `${file}: fits its contract as YAML, but is not JSON: ${why}`, {
      remedy: "correct it, or give the file a name that ends in .yaml",
    });
  }
}
