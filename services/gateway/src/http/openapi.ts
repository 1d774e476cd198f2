// The OpenAPI description of the gateway, generated from the contracts, the answers and the table of routes. Pure.
import { jsonSchemaOf, SCHEMA_NAMES } from "@antiphon/contracts";
import { ANSWERS, named, TEXT, type Json } from "./answers.ts";
import { PROBLEM_TYPE } from "./error-reply.ts";
import { ROUTES, type Route } from "./route-table.ts";

const PAGE_PARAMETERS: readonly Json[] = [
  { name: "limit", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 1000 } },
  { name: "cursor", in: "query", required: false, schema: { ...TEXT, minLength: 1 } },
];

export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const one of ROUTES) paths[one.path] = { ...paths[one.path], [one.method]: operation(one) };
  const references = referencesIn([paths, ANSWERS]);
  const contracts = SCHEMA_NAMES.filter((name) => references.has(named(name)["$ref"]));
  const schemas = Object.fromEntries(contracts.map((name) => [name, jsonSchemaOf(name)]));
  return {
    openapi: "3.1.0",
    info: {
      title: "Antiphon gateway",
      version: "0",
      description: "A query parameter that an operation does not list is refused (ANT_CONTRACT_INVALID).",
    },
    paths,
    components: {
      schemas: { ...schemas, ...ANSWERS },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

/** Where all references below a value point. */
function referencesIn(within: unknown, found = new Set<unknown>()): ReadonlySet<unknown> {
  if (typeof within !== "object" || within === null) return found;
  for (const [key, value] of Object.entries(within))
    if (key === "$ref") found.add(value);
    else referencesIn(value, found);
  return found;
}

/** An object of contracts takes no other field. */
function bodyOf(body: NonNullable<Route["body"]>): Json {
  if (typeof body === "string") return named(body);
  const properties = Object.entries(body).map(([field, name]) => [field, named(name)]);
  return {
    type: "object",
    required: Object.keys(body),
    additionalProperties: false,
    properties: Object.fromEntries(properties) as Json,
  };
}

function contentOf({ answer, stream = false }: Route): Json {
  if (answer === "text/plain" || answer === "text/event-stream") return { [answer]: { schema: {} } };
  const names = answer === null ? [] : typeof answer === "string" ? [answer] : answer;
  const schema = names.length > 1 ? { anyOf: names.map(named) } : (names.map(named)[0] ?? {});
  return {
    "application/json": { schema },
    ...(stream ? { "text/event-stream": { schema: {} } } : {}),
  };
}

function parametersOf({ path, query = [], options = {}, paged = false }: Route): Json[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return [
    ...names.map((name) => ({ name, in: "path", required: true, schema: TEXT })),
    ...query.map((name) => ({ name, in: "query", required: true, schema: TEXT })),
    ...Object.entries(options).map(([name, pattern]) => ({
      ...{ name, in: "query", required: false },
      schema: pattern === "" ? TEXT : { ...TEXT, pattern },
    })),
    ...(paged ? PAGE_PARAMETERS : []),
  ];
}

function operation(one: Route): Json {
  const { summary, body, bodiless = false, status, again, paged = false } = one;
  const links = paged
    ? { headers: { link: { schema: TEXT, description: 'The next page, rel="next"' } } }
    : {};
  const success = { description: summary, ...links, content: contentOf(one) };
  const failure = {
    description: "A coded failure",
    content: { [PROBLEM_TYPE]: { schema: named("Problem") } },
  };
  return {
    summary,
    parameters: parametersOf(one),
    ...(body === null
      ? {}
      : { requestBody: { required: !bodiless, content: { "application/json": { schema: bodyOf(body) } } } }),
    responses: {
      [status]: success,
      ...(again === undefined ? {} : { [again]: success }),
      default: failure,
    },
  };
}
