// The OpenAPI description of the gateway, generated from the contracts. Pure.
import { jsonSchemaOf } from "@antiphon/contracts";
import type { SchemaName } from "@antiphon/contracts";
import { PROBLEM_TYPE } from "./error-reply.ts";

type Json = Record<string, unknown>;

interface Route {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  /** A contract, the contracts of its fields, or null: no body. */
  readonly body: SchemaName | Readonly<Record<string, SchemaName>> | null;
  readonly status: number;
  /** Another status with the same answer. */
  readonly again?: number;
  /** Parameters of the query that it does not do without. */
  readonly query?: readonly string[];
  /** A list: it takes `limit` and `cursor`, and answers with `next` and a `Link`. */
  readonly paged?: boolean;
  /** A contract; null: a JSON object without one; or another media type. */
  readonly answer: SchemaName | "text/event-stream" | "text/plain" | null;
}

const route = (
  method: Route["method"],
  path: string,
  summary: string,
  status: number,
  answer: Route["answer"] = null,
  body: Route["body"] = null,
  more: Pick<Route, "again" | "query" | "paged"> = {},
): Route => ({ method, path, summary, status, answer, body, ...more });

const PAGED = [null, null, { paged: true }] as const;

/** In the order of README.md. A test compares this list with the server's routes. */
export const ROUTES: readonly Route[] = [
  route(
    "post",
    "/sessions",
    "Open a session: a short-lived token for prompts, and the Directors' public keys",
    201,
  ),
  route("get", "/sessions/{id}", "A session as its events tell it: status, plan, commands, artifacts", 200),
  route(
    "post",
    "/sessions/{id}/commands",
    "Send a command of Contracts v1.3; the policy is checked first",
    202,
    null,
    "Command",
  ),
  route(
    "get",
    "/sessions/{id}/events",
    "The events that answer a session's commands, in order; as a stream with `Accept: text/event-stream`",
    200,
    ...PAGED,
  ),
  route("get", "/sessions/{id}/approvals", "Requests for approval that wait for a person", 200, ...PAGED),
  route("post", "/sessions/{id}/approvals", "Approve or reject one of them", 200, null, "SessionDecision"),
  route("get", "/sessions/{id}/artifacts/{name}", "The bytes of a session's artifact", 200, "text/plain"),
  route(
    "post",
    "/intents",
    "Store an intent; the same body again gives the same id and 200",
    201,
    null,
    "Intent",
    { again: 200 },
  ),
  route("get", "/intents/{id}", "An intent", 200),
  route(
    "post",
    "/intents/{id}/run",
    "Start a run; with an Idempotency-Key the request can be repeated safely",
    202,
  ),
  route(
    "post",
    "/checks",
    "Run a repository's checks in a clean room, without a run; spaces come before the answer",
    200,
    "CheckReport",
    "CheckRequest",
  ),
  route(
    "get",
    "/policy",
    "The policy profiles that apply to a repository; `repo` is its path or URL",
    200,
    null,
    null,
    { query: ["repo"] },
  ),
  route(
    "post",
    "/policy/check",
    "Check an intent against the policy; nothing is stored",
    200,
    null,
    "Intent",
  ),
  route(
    "post",
    "/policy/simulate",
    "Judge up to 100 runs on record by a policy; nothing is stored",
    200,
    null,
    "PolicySimulation",
  ),
  route("get", "/runs", "The runs, the newest first", 200, ...PAGED),
  route("get", "/runs/{id}", "The state of a run", 200, "RunViewModel"),
  route("get", "/runs/{id}/events", "A run's journal as it grows", 200, "text/event-stream"),
  route(
    "post",
    "/hooks/{id}/decisions",
    "A person's decision that another system passes on, in a signed request",
    202,
    null,
    "HookDecision",
  ),
  route("post", "/runs/{id}/events", "Answer, approve or cancel", 202, null, "RunEvent"),
  route(
    "post",
    "/runs/{id}/pause",
    "Pause a run: nothing new starts, running attempts may finish and land",
    202,
  ),
  route("post", "/runs/{id}/resume", "Resume a paused run", 202),
  route("post", "/runs/{id}/retry", "Start a failed or canceled run's intent again, as a new run", 202),
  route(
    "post",
    "/runs/{id}/replay",
    "Carry out a recorded attempt once more, with recorded answers; spaces come before the answer",
    200,
    "ReplayReport",
    "ReplayRequest",
  ),
  route("post", "/runs/{id}/restore", "Put an archived run's records back into the journal", 200),
  route("post", "/runs/{id}/rebuild", "Rebuild a run's documents from the journal", 200),
  route("get", "/runs/{id}/journal", "A run's stored messages unchanged, including damaged ones", 200),
  route("get", "/journal", "The journal's streams, and every run that has a record", 200),
  route("get", "/runs/{id}/evidence", "A run's evidence", 200, ...PAGED),
  route("get", "/runs/{id}/evidence/{task}/{epoch}", "One evidence bundle", 200),
  route("get", "/runs/{id}/evidence/{task}/{epoch}/files/{path}", "One file of a bundle", 200, "text/plain"),
  route("get", "/dead-letters", "Dead letters, oldest first", 200, ...PAGED),
  route("get", "/dead-letters/{id}", "One dead letter with its payload", 200),
  route("post", "/dead-letters/{id}/requeue", "Requeue a dead letter", 202),
  route("post", "/recordings", "Store a recorded agent session under its replay key", 201, null, {
    input: "OCCompileInput",
    output: "OCCompileOutput",
  }),
  route("get", "/keys", "Public keys of the Directors, as a JWK set", 200),
  route("get", "/models", "The model hosts of the deployment, with prices", 200, "ModelsReply"),
  route("post", "/models/test", "Ask a model host which models it has", 200, "ModelsReply", "ModelsRequest"),
  route("get", "/images", "The images that sandboxes may use", 200, "ImagesReply"),
  route("post", "/images", "Allow or disallow an image", 200, "ImagesReply", "ImagesRequest"),
  route("get", "/services", "The services that answer now", 200),
  route("get", "/healthz", "The process is alive", 200),
  route("get", "/readyz", "NATS is connected", 200),
  route("get", "/metrics", "Prometheus", 200, "text/plain"),
  route("get", "/openapi.json", "This document", 200),
];

const TEXT: Json = { type: "string" };
const CODED: Json = { code: TEXT, remedy: TEXT, path: TEXT };

/** The part that all lists have in common. */
const PAGE: Json = {
  type: "object",
  required: ["next"],
  properties: {
    next: { type: ["string", "null"], description: "`cursor` of the next page; null: the last one" },
  },
};
const PAGE_PARAMETERS: readonly Json[] = [
  { name: "limit", in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 1000 } },
  { name: "cursor", in: "query", required: false, schema: { ...TEXT, minLength: 1 } },
];

/** RFC 9457, made in error-reply.ts. Further members depend on the code. */
const PROBLEM: Json = {
  type: "object",
  required: ["type", "title", "status", "detail", "code", "remedy", "error"],
  properties: {
    type: { type: "string", description: "`urn:antiphon:error:<code>`" },
    title: TEXT,
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: TEXT,
    ...CODED,
    ...{
      profile: TEXT,
      rule: TEXT,
      value: { description: "What a policy refused, besides profile and rule" },
    },
    error: {
      type: "object",
      description: "The same, as older clients read it",
      required: ["code", "message", "remedy"],
      properties: { ...CODED, message: TEXT },
    },
  },
};

export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const one of ROUTES) paths[one.path] = { ...paths[one.path], [one.method]: operation(one) };
  const named = ROUTES.flatMap(({ body, answer }) => [...namesIn(body), answer]).filter(isSchema);
  const schemas = Object.fromEntries([...new Set(named)].map((name) => [name, jsonSchemaOf(name)]));
  return {
    openapi: "3.1.0",
    info: { title: "Antiphon gateway", version: "0" },
    paths,
    components: {
      schemas: { ...schemas, Problem: PROBLEM },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

const namesIn = (body: Route["body"]): readonly SchemaName[] =>
  body === null ? [] : typeof body === "string" ? [body] : Object.values(body);

const reference = (name: SchemaName): Json => ({ $ref: `#/components/schemas/${name}` });

/** An object of contracts takes no other field. */
function schemaOf(body: SchemaName | Readonly<Record<string, SchemaName>>): Json {
  if (typeof body === "string") return reference(body);
  const properties = Object.entries(body).map(([field, name]) => [field, reference(name)]);
  return {
    type: "object",
    required: Object.keys(body),
    additionalProperties: false,
    properties: Object.fromEntries(properties) as Json,
  };
}

function isSchema(name: Route["answer"]): name is SchemaName {
  return name !== null && !name.includes("/");
}

function operation({ path, summary, body, status, again, query = [], paged = false, answer }: Route): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const media = answer === null || isSchema(answer) ? "application/json" : answer;
  const schema = isSchema(answer) ? reference(answer) : paged ? PAGE : {};
  const links = paged
    ? { headers: { link: { schema: TEXT, description: 'The next page, rel="next"' } } }
    : {};
  const success = { description: summary, ...links, content: { [media]: { schema } } };
  const failure = {
    description: "A coded failure",
    content: { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } },
  };
  return {
    summary,
    parameters: [
      ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...query.map((name) => ({ name, in: "query", required: true, schema: { type: "string" } })),
      ...(paged ? PAGE_PARAMETERS : []),
    ],
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemaOf(body) } },
          },
        }),
    responses: {
      [status]: success,
      ...(again === undefined ? {} : { [again]: success }),
      default: failure,
    },
  };
}
