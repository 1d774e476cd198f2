// The right that each route asks for. Pure. A route without a row is for admins, and a test compares the rows with the
// server's routes in both directions.
import type { Right } from "./roles.ts";

const ANY_WORD: readonly Right[] = ["submit", "decide"];

export const ROUTE_RIGHTS: Readonly<Record<string, readonly Right[]>> = {
  // A session reads and writes as its owner, so everybody may open one.
  "POST /sessions": ["read"],
  "GET /sessions": ["read"],
  "GET /sessions/:id": ["read"],
  "POST /sessions/:id/commands": ["submit"],
  "GET /sessions/:id/events": ["read"],
  "GET /sessions/:id/artifacts/:name": ["read"],
  "GET /sessions/:id/approvals": ["read"],
  "POST /sessions/:id/approvals": ["decide"],
  "POST /intents": ["submit"],
  "GET /intents/:id": ["read"],
  "POST /intents/:id/run": ["submit"],
  "POST /recordings": ["submit"],
  "POST /checks": ["submit"],
  "GET /policy": ["read"],
  "POST /policy/check": ["read"],
  "POST /policy/simulate": ["read"],
  "GET /runs": ["read"],
  "GET /runs/:id": ["read"],
  "GET /runs/:id/events": ["read"],
  // An approval also needs `decide`, and a message `submit`; the route sees that in the body.
  "POST /runs/:id/events": ANY_WORD,
  "POST /runs/:id/retry": ["submit"],
  "POST /runs/:id/replay": ["submit"],
  "POST /runs/:id/restore": ["operate"],
  "POST /runs/:id/rebuild": ["operate"],
  "POST /runs/:id/pause": ["submit"],
  "POST /runs/:id/resume": ["submit"],
  "GET /journal": ["read"],
  "GET /runs/:id/journal": ["read"],
  "GET /runs/:id/evidence": ["read"],
  "GET /runs/:id/evidence/:task/:epoch": ["read"],
  "GET /runs/:id/evidence/:task/:epoch/files/*": ["read"],
  "GET /images": ["read"],
  "POST /images": ["operate"],
  "GET /models": ["read"],
  "POST /models/test": ["operate"],
  "GET /dead-letters": ["read"],
  "GET /dead-letters/:id": ["read"],
  "POST /dead-letters/:id/requeue": ["operate"],
  "GET /keys": ["read"],
  "GET /openapi.json": ["read"],
  "GET /services": ["read"],
  "GET /queues": ["read"],
  "GET /agents": ["read"],
  "GET /agents/:name": ["read"],
  "GET /metrics": ["read"],
};

/** `HEAD` reads what `GET` reads. */
export function rightsFor(method: string, route: string): readonly Right[] {
  return ROUTE_RIGHTS[`${method === "HEAD" ? "GET" : method} ${route}`] ?? ["operate"];
}
