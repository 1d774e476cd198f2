/** The reference page of one contract. */
import { fieldsOf } from "./fields.ts";
import { sourceOf } from "./explain.ts";
import { registry, type SchemaName } from "../registry/registry.ts";
import { cell, page, table } from "./markdown.ts";

/** @param example the first golden fixture */
export function contractPage(name: SchemaName, example: unknown): string {
  const { id, schema, rules } = registry[name];
  const fields = fieldsOf(schema);
  return page([
    `# ${id}`,
    `${(schema as { description?: string }).description ?? ""} Source: ${sourceOf(name)}.`,
    `JSON Schema: [\`contracts/schemas/${id}.json\`](../../../contracts/schemas/${id}.json). ` +
      `Fixtures: [\`contracts/fixtures/${id}.json\`](../../../contracts/fixtures/${id}.json).`,
    ...(fields.length === 0
      ? []
      : [
          "## Fields",
          table(
            ["Field", "Type", "Required", "Default", "Meaning"],
            fields.map((field) => [
              `\`${field.path}\``,
              cell(field.type),
              field.required ? "yes" : "no",
              field.default === null ? "" : `\`${field.default}\``,
              cell(field.description),
            ]),
          ),
        ]),
    ...(rules.length === 0
      ? []
      : ["## Rules", rules.map((rule) => `- ${cell(rule.says)} \`${rule.id}\``).join("\n")]),
    "## Example",
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
    `In a YAML file: \`# yaml-language-server: $schema=contracts/schemas/${id}.json\``,
  ]);
}
