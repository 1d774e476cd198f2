// The OpenAPI description of the gateway, made from the contracts themselves. Pure.
import { jsonSchemaOf } from "@antiphon/contracts";
import type { SchemaName } from "@antiphon/contracts";

type Json = Record<string, unknown>;

interface Route {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  /** A contract, or null: no body. */
  readonly body: SchemaName | null;
  readonly status: number;
  /** A contract; null: a JSON object of its own; or another media type. */
  readonly answer: SchemaName | "text/event-stream" | "text/plain" | null;
}

const route = (
  method: Route["method"],
  path: string,
  summary: string,
  status: number,
  answer: Route["answer"] = null,
  body: SchemaName | null = null,
): Route => ({ method, path, summary, status, answer, body });

/** In the order of README.md; a test holds this list and the server's routes to each other. */
export const ROUTES: readonly Route[] = [
  route(
    "post",
    "/sessions",
    "Open a session: a short-lived token for prompts, and the Directors' public keys",
    201,
  ),
  route(
    "post",
    "/sessions/{id}/commands",
    "A command of Contracts v1.3: policy first, then carried out",
    202,
    null,
    "Command",
  ),
  route("get", "/sessions/{id}/events", "What a session's commands were answered with, in order", 200),
  route("post", "/intents", "Store an intent; the same body has the same id (then 200)", 201, null, "Intent"),
  route("get", "/intents/{id}", "An intent", 200),
  route("post", "/intents/{id}/run", "Start a run; send an Idempotency-Key to be able to ask again", 202),
  route("get", "/policy", "Which policy profiles hold for a repository; `repo` is its path", 200),
  route(
    "post",
    "/policy/check",
    "What the policy would say of an intent; nothing is stored",
    200,
    null,
    "Intent",
  ),
  route("get", "/runs", "The newest runs", 200),
  route("get", "/runs/{id}", "How a run stands", 200, "RunViewModel"),
  route("get", "/runs/{id}/events", "A run's journal as it grows", 200, "text/event-stream"),
  route("post", "/runs/{id}/events", "Answer, approve or cancel", 202, null, "RunEvent"),
  route("post", "/runs/{id}/pause", "Start nothing new; what is under way may finish and land", 202),
  route("post", "/runs/{id}/resume", "Go on", 202),
  route("post", "/runs/{id}/retry", "A new run of the same intent, for one that failed or was canceled", 202),
  route("post", "/runs/{id}/restore", "Put an archived run's records back into the journal", 200),
  route("post", "/runs/{id}/rebuild", "Make a run's documents again from the journal", 200),
  route("get", "/runs/{id}/journal", "A run's stored messages as they are, damaged ones and all", 200),
  route("get", "/journal", "The journal's streams, and every run that has a record", 200),
  route("get", "/runs/{id}/evidence", "Everything a run can prove", 200),
  route("get", "/runs/{id}/evidence/{task}/{epoch}", "One evidence bundle", 200),
  route("get", "/runs/{id}/evidence/{task}/{epoch}/files/{path}", "One file of a bundle", 200, "text/plain"),
  route("get", "/dead-letters", "What was given up, oldest first; `after` and `limit`", 200),
  route("get", "/dead-letters/{id}", "One dead letter with its payload", 200),
  route("post", "/dead-letters/{id}/requeue", "Have it handled once more", 202),
  route("post", "/recordings", "Keep a recorded agent session under its replay key", 201),
  route("get", "/keys", "Public keys of the Directors, as a JWK set", 200),
  route("get", "/images", "The images sandboxes may be made of", 200, "ImagesReply"),
  route("post", "/images", "Allow an image, or take that back", 200, "ImagesReply", "ImagesRequest"),
  route("get", "/services", "Which services answer", 200),
  route("get", "/healthz", "The process lives", 200),
  route("get", "/readyz", "NATS is connected", 200),
  route("get", "/metrics", "Prometheus", 200, "text/plain"),
  route("get", "/openapi.json", "This document", 200),
];

const ERROR: Json = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "remedy"],
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        remedy: { type: "string" },
        path: { type: "string" },
      },
    },
  },
};

export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const one of ROUTES) paths[one.path] = { ...paths[one.path], [one.method]: operation(one) };
  const named = ROUTES.flatMap(({ body, answer }) => [body, answer]).filter(isSchema);
  const schemas = Object.fromEntries([...new Set(named)].map((name) => [name, jsonSchemaOf(name)]));
  return {
    openapi: "3.1.0",
    info: { title: "Antiphon gateway", version: "0" },
    paths,
    components: {
      schemas: { ...schemas, Error: ERROR },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

function isSchema(name: Route["answer"] | Route["body"]): name is SchemaName {
  return name !== null && !name.includes("/");
}

function operation({ path, summary, body, status, answer }: Route): Json {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const media = answer === null || isSchema(answer) ? "application/json" : answer;
  const schema = isSchema(answer) ? { $ref: `#/components/schemas/${answer}` } : {};
  const failure = {
    description: "A coded failure",
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
  return {
    summary,
    parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...(body === null
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "application/json": { schema: { $ref: `#/components/schemas/${body}` } } },
          },
        }),
    responses: { [status]: { description: summary, content: { [media]: { schema } } }, default: failure },
  };
}
