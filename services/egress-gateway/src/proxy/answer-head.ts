/** Secrets in an answer can be masked only if its head says certain things. This asks for them, and checks them. */
import type { IncomingMessage } from "node:http";
import { EgressRefusal } from "../policy/refusal.ts";
import { scrubbed } from "../policy/scrubber.ts";
import { endToEnd, type Headers } from "./headers.ts";

/** egress-gateway/E2: a piece of a secret looks like no secret, so a request with a credential asks for no part. */
export function whole({ range: _range, "if-range": _ifRange, ...headers }: Headers): Headers {
  return headers;
}

/** The answer to a request with a credential. @throws EgressRefusal if it could not be masked */
export function requireWhole(answer: IncomingMessage, host: string): void {
  if (!isPlain(answer)) throw unreadable(host);
  const { "content-range": range, "content-type": type = "" } = answer.headers;
  if (answer.statusCode !== 206 && range === undefined && !type.toLowerCase().includes("byteranges")) return;
  const why = `${host} sent a part of a document, though the request asked for all of it`;
  throw new EgressRefusal("ANT_EGRESS_UPSTREAM", "upstream:part", why);
}

export function isPlain(answer: IncomingMessage): boolean {
  const coding = answer.headers["content-encoding"] ?? "identity";
  const transfer = answer.headers["transfer-encoding"] ?? "chunked";
  return coding.trim().toLowerCase() === "identity" && transfer.trim().toLowerCase() === "chunked";
}

export function unreadable(host: string): EgressRefusal {
  return new EgressRefusal(
    "ANT_EGRESS_UPSTREAM",
    "upstream:encoded",
    `${host} sent an encoded answer, though the request asked for identity`,
  );
}

/** A header with a secret in its name is left out. */
export function cleanHeaders(answer: IncomingMessage, secrets: readonly string[]): Headers {
  const named = Object.entries(endToEnd(answer.headers)).filter(([name]) => scrubbed(name, secrets) === name);
  return Object.fromEntries(
    named.map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((one) => scrubbed(one, secrets)) : scrubbed(value, secrets),
    ]),
  );
}
