/** Describes a contract: purpose, fields, rules, an example. */
import { AntiphonError } from "../errors.ts";
import { fieldsOf, type Field } from "./fields.ts";
import { nearest } from "../validation/problem.ts";
import { registry, schemaNameOf, SCHEMA_NAMES, type SchemaName, type Source } from "../registry/registry.ts";
import { sampleOf } from "./sample.ts";

const SOURCES: { readonly [S in Source]: string } = {
  "000": "seed 000, Director <-> Associate v0",
  "001": "seed 001, Ralph-in-Ralph v1",
  "002": "seed 002, RFC 000",
  "003": "seed 003, Router Contract Format",
  "004": "seed 004, Contracts v1.3",
  antiphon: "Antiphon",
};

export const sourceOf = (name: SchemaName): string => SOURCES[registry[name].source];

/** The registry name, or ANT_CONTRACT_UNKNOWN with the nearest one. Case does not matter. */
export function findContract(text: string): SchemaName {
  const known = schemaNameOf(text) ?? SCHEMA_NAMES.find((name) => name.toLowerCase() === text.toLowerCase());
  if (known !== undefined && known !== null) return known;
  const meant = nearest(text, SCHEMA_NAMES);
  const hint = meant === null ? `one of: ${SCHEMA_NAMES.join(", ")}` : `did you mean ${meant}?`;
  throw new AntiphonError("ANT_CONTRACT_UNKNOWN", `no contract is called ${text.slice(0, 80)}; ${hint}`);
}

/** One line per contract, for `antiphon explain` without a name. */
export function contractList(): { name: string; id: string; source: string; description: string }[] {
  return SCHEMA_NAMES.map((name) => {
    const { id, schema } = registry[name];
    return {
      name,
      id,
      source: sourceOf(name),
      description: (schema as { description?: string }).description ?? "",
    };
  });
}

/** Plain text for a terminal. Throws ANT_CONTRACT_UNKNOWN. */
export function explain(text: string): string {
  const name = findContract(text);
  const { id, schema, rules } = registry[name];
  const fields = fieldsOf(schema);
  const lines = [
    `${id}  (${sourceOf(name)})`,
    (schema as { description?: string }).description ?? "",
    "",
    ...(fields.length > 0 ? ["Fields", ...fields.map(fieldLine)] : ["No fields of its own."]),
    ...(rules.length > 0 ? ["", "Rules", ...rules.map((rule) => `  ${rule.says}  [${rule.id}]`)] : []),
    "",
    "Example",
    ...JSON.stringify(exampleOf(name), null, 2)
      .split("\n")
      .map((line) => `  ${line}`),
    "",
    `In an editor: # yaml-language-server: $schema=contracts/schemas/${id}.json`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Replacements for fields where an example made from the shape alone would break a rule. */
const TOUCHES: { readonly [N in SchemaName]?: Record<string, unknown> } = {
  RouterContractFinal: { evidence: [{ type: "test", result: "PASS", details: "All 21 unit tests pass" }] },
  PolicyConfig: { profiles: { default: sampleOf(registry.PolicyProfile.schema) }, defaultProfile: "default" },
};
const RUN_LEVEL = ["journal.intent", "journal.routed", "journal.closed", "journal.cancel", "journal.input"];
const COUNTED = [
  "journal.approval",
  "journal.control",
  "journal.message",
  "journal.requeue",
  "journal.archived",
  "journal.restored",
];

/** A small valid document. */
export function exampleOf(name: SchemaName): unknown {
  const example = sampleOf(registry[name].schema);
  if (typeof example !== "object" || example === null) return example;
  if (!name.startsWith("journal.")) return { ...example, ...TOUCHES[name] };
  const level = RUN_LEVEL.includes(name)
    ? { taskId: null, epoch: 0 }
    : { taskId: COUNTED.includes(name) ? null : "T-001", epoch: 1 };
  const { body } = example as { body: object };
  if (name !== "journal.closed") return { ...example, ...level };
  return { ...example, ...level, body: { ...body, contract: exampleOf("RouterContractFinal") } };
}

function fieldLine({ path, type, required, default: filled, description }: Field): string {
  const need = required ? "required" : filled === null ? "optional" : `default ${filled}`;
  const about = description === "" ? "" : `\n      ${description}`;
  return `  ${path}: ${type}  [${need}]${about}`;
}
