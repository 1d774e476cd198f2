// Reads the values of a request that several routes take, and answers with the values that several give.
import { AntiphonError } from "@antiphon/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { invalid, linkOf, type PageQuery } from "../paging.ts";

export type Params<K extends string> = { Params: Record<K, string> };
export type Paged = { Querystring: PageQuery };

export function id(text: string, prefix: "it" | "run"): string {
  if (new RegExp(`^${prefix}_[a-z0-9]{1,32}$`).test(text)) return text;
  const code = prefix === "it" ? "ANT_INTENT_NOT_FOUND" : "ANT_RUN_NOT_FOUND";
  throw new AntiphonError(
    code,
    `${JSON.stringify(text.slice(0, 80))} is not ${prefix === "it" ? "an intent" : "a run"} id (${prefix}_...)`,
  );
}

export function idempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && /^[\x21-\x7e]{1,128}$/.test(header)) return header;
  throw invalid("Idempotency-Key", "must be 1 to 128 printable characters without spaces");
}

/** `next` of the body, and the same as a `Link`. */
export function nextOf(
  request: FastifyRequest,
  reply: FastifyReply,
  next: string | null,
): { next: string | null } {
  if (next !== null) void reply.header("link", linkOf(request.originalUrl, next));
  return { next };
}

/** A browser shows or saves an agent's file as text and never runs it in the gateway's origin. */
export function sendFile(reply: FastifyReply, bytes: Buffer): FastifyReply {
  return reply
    .type("text/plain; charset=utf-8")
    .header("content-security-policy", "sandbox; default-src 'none'")
    .send(bytes);
}
