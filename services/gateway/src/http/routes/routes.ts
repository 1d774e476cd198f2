// The routes: they read the parameters of a request, call a use case and send its answer.
import type { FastifyInstance } from "fastify";
import type { Gateway } from "../../gateway.ts";
import { addHooks, type HookParts } from "../../hooks/hook-routes.ts";
import type { Backend } from "../../ports.ts";
import { keepInScope } from "../../sessions/session-scope.ts";
import type { EventStreams } from "../event-stream.ts";
import type { SessionTokens } from "../session-tokens.ts";
import { addEvidence, addJournal } from "./evidence-routes.ts";
import { addChecks, addIntents, addPolicy } from "./intent-routes.ts";
import { addDeadLetters, addHealth, addImages, addModels, addOperations } from "./operation-routes.ts";
import { addRuns } from "./run-routes.ts";
import { addSessionApprovals, addSessions } from "./session-routes.ts";

export interface RouteParts {
  readonly gateway: Gateway;
  readonly backend: Backend;
  readonly sessions: SessionTokens;
  readonly streams: EventStreams;
  readonly hooks: Pick<HookParts, "signatures" | "identityOf">;
  readonly metrics: () => Promise<{ type: string; text: string }>;
}

export function addRoutes(server: FastifyInstance, parts: RouteParts): void {
  keepInScope(server, parts.gateway);
  addSessions(server, parts);
  addSessionApprovals(server, parts);
  addPolicy(server, parts.gateway);
  addIntents(server, parts.gateway);
  addChecks(server, parts.gateway);
  addRuns(server, parts);
  addJournal(server, parts.gateway);
  addEvidence(server, parts.gateway);
  addImages(server, parts.backend);
  addModels(server, parts.backend);
  addDeadLetters(server, parts.gateway);
  addOperations(server, parts.gateway);
  addHealth(server, parts);
  addHooks(server, { ...parts, ...parts.hooks });
}
