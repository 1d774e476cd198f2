/** Holds an answer of the gateway against its OpenAPI document. */
import { SCHEMA_NAMES } from "@antiphon/contracts";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { openApi } from "../../services/gateway/src/http/openapi.ts";
import { ROUTES, type Route } from "../../services/gateway/src/http/route-table.ts";

/** The document's objects are open for later fields. Here an answer may have none that the document does not name. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return "properties" in inner && inner["type"] === "object"
    ? { additionalProperties: false, ...inner }
    : inner;
}

const CONTRACTS: ReadonlySet<string> = new Set(SCHEMA_NAMES);

function strictDocument(): object {
  const { components, paths } = openApi() as { components: { schemas: object }; paths: object };
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [
    name,
    CONTRACTS.has(name) ? withoutId(schema as object) : closed(schema),
  ]);
  return { $id: "antiphon:openapi", paths, components: { schemas: Object.fromEntries(schemas) as object } };
}

/** A reference within the document would otherwise be read from the contract's own id. */
function withoutId({ $id: _, ...schema }: { $id?: unknown }): object {
  return schema;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(strictDocument());
const compiled = new Map<string, ValidateFunction>();

const SEGMENT = "[^/]+";
const patternOf = ({ path }: Route): RegExp =>
  new RegExp(
    `^(/v1)?${path
      .replace("{path}", ".+")
      .replaceAll(/\{\w+\}/g, SEGMENT)
      .replaceAll(".json", "\\.json")}$`,
  );
const PATTERNS = ROUTES.map((route) => ({ route, pattern: patternOf(route) }));

/** Null: the document allows it, or it is no JSON; otherwise what is wrong with it. */
export function undocumented(
  method: string,
  url: string,
  { status, type, body }: { status: number; type: string | undefined; body: unknown },
): Error | null {
  if (status >= 400 || !/^application\/json\b/.test(type ?? "")) return null;
  const [path = ""] = url.split("?");
  const found = PATTERNS.find(
    ({ route, pattern }) => route.method === method.toLowerCase() && pattern.test(path),
  );
  if (found === undefined) return new Error(`the OpenAPI document has no ${method} ${path}`);
  const { route } = found;
  const fragment = [
    route.path,
    route.method,
    "responses",
    String(status),
    "content",
    "application/json",
    "schema",
  ]
    .map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")))
    .join("/");
  const reference = `antiphon:openapi#/paths/${fragment}`;
  const fits = compiled.get(reference) ?? ajv.compile({ $ref: reference });
  compiled.set(reference, fits);
  if (fits(body)) return null;
  const faults = fits.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return new Error(`${status} of ${method} ${path} is not as documented: ${faults?.slice(0, 6).join("; ")}`);
}
