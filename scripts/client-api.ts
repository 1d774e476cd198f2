/**
 * The types of the gateway's HTTP API, made from its OpenAPI document: client/src/api.ts.
 *
 * A component that is a contract becomes the contract's own type, so that no type of it is made twice. That is why no published
 * generator is used: those make a second type of each contract.
 */
import { SCHEMA_NAMES } from "@antiphon/contracts";
import { format } from "prettier";
import { openApi } from "../services/gateway/src/http/openapi.ts";

export const CLIENT_API = "client/src/api.ts";

type Json = Readonly<Record<string, unknown>>;
interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly in: "path" | "query";
}
interface Operation {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: Json }>>;

/** Components that the contracts, or a file of the client, type more narrowly than their schema. */
const NARROWER: Readonly<Record<string, string>> = {
  RunRecord: "./run-record.ts",
  RunMaterial: "@antiphon/contracts",
};
const CONTRACTS: ReadonlySet<string> = new Set(SCHEMA_NAMES);

export async function clientApi(): Promise<string> {
  const { paths, components } = openApi() as {
    paths: Record<string, Partial<Record<"get" | "post", Operation>>>;
    components: { schemas: Record<string, Json> };
  };
  const routes = (method: "get" | "post"): string =>
    Object.entries(paths)
      .flatMap(([path, { [method]: one }]) => (one === undefined ? [] : [routeType(path, method, one)]))
      .join("\n");
  const text = `/* oxlint-disable max-lines -- it is read by the compiler, not by people */
// Made by \`npm run generate\` from the gateway's OpenAPI document. Changes by hand are lost.
import type { ContractType } from "@antiphon/contracts";
${Object.entries(NARROWER)
  .map(([name, from]) => `import type { ${name} } from "${from}";`)
  .join("\n")}

export type { ${Object.keys(NARROWER).join(", ")} };

/** A parameter of a path or of a query. */
export type UrlValue = string | number | undefined;
type Nothing = Record<never, never>;

${Object.entries(components.schemas)
  .filter(([name]) => !(name in NARROWER))
  .map(([name, schema]) => `${comment(schema)}export type ${name} = ${component(name, schema)};`)
  .join("\n")}

export interface GetRoutes {
${routes("get")}
}

export interface PostRoutes {
${routes("post")}
}
`;
  return format(text, { parser: "typescript", printWidth: 110 });
}

const comment = ({ description }: Json): string =>
  typeof description === "string"
    ? `/** ${description.replaceAll("*/", "* /").replaceAll(/\s+/g, " ")} */\n`
    : "";

const component = (name: string, schema: Json): string =>
  CONTRACTS.has(name) ? `ContractType<${JSON.stringify(name)}>` : typeOf(schema);

function routeType(path: string, method: "get" | "post", one: Operation): string {
  const params = one.parameters.map(({ name, required }) =>
    required ? `readonly ${name}: string | number;` : `readonly ${name}?: UrlValue;`,
  );
  const success = Object.entries(one.responses).find(([status]) => /^2/.test(status))?.[1].content ?? {};
  const json = success["application/json"];
  const body = one.requestBody?.content["application/json"]?.schema;
  const sent =
    body === undefined
      ? "undefined"
      : `${typeOf(body)}${one.requestBody?.required === true ? "" : " | undefined"}`;
  return [
    `/** ${one.summary} */`,
    `${JSON.stringify(path)}: {`,
    `readonly params: ${params.length === 0 ? "Nothing" : `{ ${params.join(" ")} }`};`,
    ...(method === "post" ? [`readonly body: ${sent};`] : []),
    `readonly answer: ${json === undefined ? "string" : typeOf(json.schema)};`,
    "};",
  ].join("\n");
}

function typeOf(schema: Json): string {
  const { $ref, anyOf, type, items } = schema;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return union(schema["enum"].map((one) => JSON.stringify(one)));
  if (Array.isArray(anyOf)) return union((anyOf as Json[]).map(typeOf));
  if (Array.isArray(type)) return union((type as string[]).map((one) => typeOf({ ...schema, type: one })));
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `(${typeOf((items ?? {}) as Json)})[]`;
    case "object":
      return objectType(schema);
    case undefined:
      return "unknown";
    default:
      throw new Error(`no type for ${JSON.stringify(schema)}`);
  }
}

function objectType({ properties, required = [], additionalProperties, patternProperties }: Json): string {
  if (properties !== undefined) {
    const fields = Object.entries(properties as Record<string, Json>).map(([name, schema]) => {
      const mark = (required as readonly string[]).includes(name) ? "" : "?";
      return `${comment(schema)}${JSON.stringify(name)}${mark}: ${typeOf(schema)};`;
    });
    return `{\n${fields.join("\n")}\n}`;
  }
  const values = [
    ...Object.values((patternProperties ?? {}) as Record<string, Json>),
    ...(typeof additionalProperties === "object" ? [additionalProperties as Json] : []),
  ];
  return `Record<string, ${values.length === 0 ? "unknown" : union(values.map(typeOf))}>`;
}

const union = (types: readonly string[]): string => [...new Set(types)].join(" | ");
