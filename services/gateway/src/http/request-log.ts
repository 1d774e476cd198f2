// Logs one line per failed request. Denied access is an audit line: who, from where, which route, why. A caller's mistake
// is logged as info, a failure of the gateway as a warning. No line contains a token or a query.
import type { AntiphonError } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import type { FastifyRequest } from "fastify";

const DENIED: ReadonlySet<number> = new Set([401, 403]);

export function logRefusal(
  log: Logger,
  request: FastifyRequest,
  { error, status, thrown }: { error: AntiphonError; status: number; thrown: unknown },
): void {
  const path = request.routeOptions.url ?? request.url.split("?")[0] ?? "";
  const at = {
    route: `${request.method} ${path}`,
    code: error.code,
    status,
    by: request.principal || "unknown",
  };
  if (status >= 500) log.warn({ ...at, err: thrown }, "request failed");
  else if (DENIED.has(status) || (status === 429 && request.principal === ""))
    log.warn({ ...at, from: request.ip, ...forwarded(request), why: error.detail }, "access denied");
  else log.info({ ...at, why: error.detail }, "request refused");
}

/** One line for each request that changes something: who did what to which run, and how it ended. Refusals have their own. */
export function logAction(log: Logger, request: FastifyRequest, status: number): void {
  const { method, routeOptions, params, principal, roles, sessionId } = request;
  if (method !== "POST" || status >= 400) return;
  const { id } = (params ?? {}) as { id?: string };
  const target = id === undefined ? {} : { target: id };
  const session = sessionId === null ? {} : { session: sessionId };
  log.info(
    {
      audit: true,
      by: principal,
      roles,
      route: `POST ${routeOptions.url ?? ""}`,
      ...target,
      ...session,
      status,
    },
    "action",
  );
}

/** The caller's address according to a proxy; anyone can forge it. */
function forwarded({ headers }: FastifyRequest): { forwardedFor?: string } {
  const said = headers["x-forwarded-for"];
  return typeof said === "string" ? { forwardedFor: said.slice(0, 200) } : {};
}
