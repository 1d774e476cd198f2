// Fastify with its guards and its one error mapper; the routes are in routes/ and event-stream.ts. Without NATS, a
// request that needs it gets 503 at once. A deployment with a token accepts prompts with a session token only.
//
// A route whose rights nobody has declared is for admins.
//
// Promises:
//   gateway/G4 Because the guards of the caller and of the right that a route asks for judge the route that will
//     answer, not the URL's text, before the body is read, a caller does only what the roles of their identity allow,
//     and no spelling of a path (`/%73essions`, `/sessions#x`) evades that.
//   gateway/G5 Because every failure goes through one mapper, a caller gets a problem document with a code and a remedy, never
//     a stack trace or an internal message.
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { judgeCaller } from "./caller-guard.ts";
import type { GuardPolicy } from "./caller-guard.ts";
import { CallerRates } from "./caller-rates.ts";
import { errorReply, nameOf, PROBLEM_TYPE } from "./error-reply.ts";
import { answerUnreadable, learnMethods } from "./http-edge.ts";
import { requireKnownQuery } from "./query-names.ts";
import { logAction, logRefusal } from "./request-log.ts";
import type { MethodTable } from "./method-table.ts";
import type { SessionTokens } from "./session-tokens.ts";
import { HOOK_PATH } from "../hooks/hook-routes.ts";
import { identityOf, OPEN_DIRECTORY, type Directory } from "../identity/directory.ts";
import type { OidcPeople } from "../identity/oidc.ts";
import { requireRight, type Role, type Tenancy } from "../identity/roles.ts";
import { rightsFor } from "../identity/route-rights.ts";
import { PAGE_PATHS } from "../page/page-routes.ts";

declare module "fastify" {
  interface FastifyRequest {
    principal: string;
    /** Id of the session whose token was sent; null: none was sent. */
    sessionId: string | null;
    /** The session is bound to a repository and reaches nothing else. */
    bound: boolean;
    roles: readonly Role[];
    tenancy: Tenancy;
  }
}

/** Health probes for a supervisor: answered without NATS and without a token. */
const OPEN_PATHS = new Set(["/healthz", "/readyz"]);
export const SESSIONS_PATH = "/sessions";
/** Of a request that no guard has seen yet. */
const NO_ROLES: readonly Role[] = [];
const FREE: Tenancy = { kind: "free" };
const LOCAL_PATHS = new Set(["/metrics", "/openapi.json", ...PAGE_PATHS]);

export interface HttpPolicy extends GuardPolicy {
  /** Roles and tenants of people with local tokens. Default: everybody may do everything. */
  readonly directory?: Directory;
  /** People of an identity provider; absent: there are none. */
  readonly oidc?: OidcPeople;
  readonly sessions: SessionTokens;
  connected(): boolean;
}

export function openHttpServer(policy: HttpPolicy, log: Logger): FastifyInstance {
  const server = fastify({
    bodyLimit: limits.requestBodyBytes,
    logger: false,
    requestTimeout: 30_000,
    keepAliveTimeout: 5_000,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 512 },
    // The version prefix is optional: there is only one version.
    rewriteUrl: ({ url = "/" }) => (url.startsWith("/v1/") ? url.slice(3) : url),
    // A URL that cannot be decoded never reaches the error handler below.
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, log),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply, log),
  });
  const methods = learnMethods(server);
  const rates = new CallerRates();
  server.decorateRequest("principal", "");
  server.decorateRequest("sessionId", null);
  server.decorateRequest("bound", false);
  server.decorateRequest("rawBody", "");
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    request.rawBody = String(body);
    done(null, parseJson(request.rawBody));
  });
  server.addHook("onRequest", async (request, reply) => {
    void reply.header("x-content-type-options", "nosniff").header("cache-control", "no-store");
    Object.assign(request, { roles: NO_ROLES, tenancy: FREE });
    const path = routeOf(request);
    const isOpen = isOpenPath(path);
    // Without a token there is one caller, on this machine.
    const isLimited = policy.token !== null && !isOpen;
    if (isLimited) rates.admitAddress(request.ip, performance.now());
    await admit(request, policy).catch((error: unknown) => {
      if (isLimited && isGuess(request, error)) rates.guessed(request.ip, performance.now());
      throw error;
    }); // gateway/G4
    if (isLimited) rates.admitCaller(request.principal, performance.now());
    if (path !== HOOK_PATH) requireSession(request, policy);
    requireRoute(request, reply, methods);
    if (!isOpen) requireRight(request, rightsFor(request.method, path), `${request.method} ${path}`); // gateway/G4
    requireKnownQuery(request.method, path, request.url);
    const needsNats = !OPEN_PATHS.has(path) && !LOCAL_PATHS.has(path);
    if (needsNats && !policy.connected())
      throw new AntiphonError("ANT_NATS_UNREACHABLE", "the gateway has lost NATS; it reconnects by itself");
  });
  server.addHook("onResponse", async (request, { statusCode }) => logAction(log, request, statusCode));
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, log)); // gateway/G5
  return server;
}

/** Throws if no route answers: the path is unknown, or it takes other methods. */
function requireRoute(request: FastifyRequest, reply: FastifyReply, methods: MethodTable): void {
  if (routeOf(request) !== "") return;
  const { method, url } = request;
  const [path = ""] = url.split("?");
  const allowed = methods.of(path);
  if (allowed.length === 0) throw new AntiphonError("ANT_GATEWAY_ROUTE", `there is no ${method} ${path}`);
  void reply.header("allow", allowed.join(", "));
  throw new AntiphonError("ANT_GATEWAY_METHOD", `${path} takes ${allowed.join(", ")}, not ${method}`);
}

/** gateway/G4: the route as declared. Empty: no route answers, so no exemption applies. */
function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? "";
}

/** Needs no token: the page's files are the same for everybody, and a hook's signature is checked with its body. */
const isOpenPath = (path: string): boolean =>
  OPEN_PATHS.has(path) || PAGE_PATHS.has(path) || path === HOOK_PATH;

/** A token was sent, and it is none of ours. One of a session that has ended was. */
const isGuess = ({ headers }: FastifyRequest, error: unknown): boolean =>
  headers.authorization !== undefined &&
  error instanceof AntiphonError &&
  error.httpStatus === 401 &&
  error.code !== "ANT_SESSION_EXPIRED";

async function admit(request: FastifyRequest, policy: HttpPolicy): Promise<void> {
  const { host, origin, authorization } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const isPage = PAGE_PATHS.has(routeOf(request));
  // A link on another site may lead to the page, because the page's files are the same for everybody.
  const secFetchSite = typeof site === "string" && !isPage ? site : undefined;
  const verdict = judgeCaller(
    { host, origin, authorization, secFetchSite },
    isOpenPath(routeOf(request)) ? { ...policy, token: null } : policy,
  );
  if (verdict.kind === "refuse") throw new AntiphonError(verdict.code, verdict.detail);
  if (verdict.kind === "pass")
    Object.assign(request, identityOf(verdict.principal, policy.directory ?? OPEN_DIRECTORY));
  else if (policy.oidc?.issued(verdict.token) === true)
    Object.assign(request, await policy.oidc.identify(verdict.token));
  else Object.assign(request, await policy.sessions.verify(verdict.token));
}

/** The deployment's token opens sessions and reads; any other POST needs the short-lived token of a session (seed 000). */
function requireSession(request: FastifyRequest, { token }: GuardPolicy): void {
  const { method, sessionId } = request;
  if (method !== "POST") return;
  if (routeOf(request) === SESSIONS_PATH) {
    if (sessionId === null) return;
    throw new AntiphonError("ANT_GATEWAY_TOKEN_REQUIRED", "a session token cannot open a session"); // gateway/G6
  }
  const [path = ""] = request.url.split("?");
  if (token !== null && sessionId === null)
    throw new AntiphonError("ANT_SESSION_REQUIRED", `POST ${path} requires a session token`);
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const { status, body, retryAfterS } = errorReply(error);
  logRefusal(log, request, { error: nameOf(error), status, thrown: error });
  if (retryAfterS !== null) void reply.header("retry-after", String(retryAfterS));
  if (status === 401) void reply.header("www-authenticate", "Bearer");
  void reply.code(status).type(PROBLEM_TYPE).send(body);
}

/** An empty body counts as none, so `curl -X POST` with a JSON content type works. */
function parseJson(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AntiphonError("ANT_GATEWAY_BODY", `the body is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
