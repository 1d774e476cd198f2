// Decisions that another system passes on for a person. The request is signed by the system; the person is one that the
// deployment knows, so that a requester cannot approve through a hook either.
import { AntiphonError, validate } from "@antiphon/contracts";
import type { FastifyInstance } from "fastify";
import type { Gateway } from "../gateway.ts";
import { malformed } from "../http/malformed.ts";
import { hasRight, type Identity } from "../identity/roles.ts";
import type { HookSignatures } from "./hook-signature.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The body as it was sent, for signatures over it. */
    rawBody: string;
  }
}

/** It has no bearer token; the signature stands for one. */
export const HOOK_PATH = "/hooks/:id/decisions";

export interface HookParts {
  readonly gateway: Pick<Gateway, "say">;
  readonly signatures: HookSignatures;
  /** Null: nobody has this name. */
  identityOf(name: string): Identity | null;
}

export function addHooks(server: FastifyInstance, parts: HookParts): void {
  server.post<{ Params: { id: string } }>(HOOK_PATH, async (request, reply) => {
    const { headers, params, rawBody } = request;
    const timestamp = single(headers["antiphon-timestamp"]);
    const signature = single(headers["antiphon-signature"]);
    parts.signatures.accept({ hook: params.id, timestamp, signature, body: rawBody });
    const outcome = validate("HookDecision", request.body ?? null);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    const { run, by, ...decision } = outcome.value;
    const person = parts.identityOf(by);
    if (person === null || !hasRight(person, "decide"))
      throw new AntiphonError("ANT_GATEWAY_ROLE", `${JSON.stringify(by)} is nobody who may decide here`);
    request.principal = person.principal; // For the audit line.
    return reply
      .code(202)
      .send(await parts.gateway.say(run, { event: "approval", ...decision }, person.principal));
  });
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? undefined : header;
}
