/**
 * Whether a process is there: one that serves a subject, and one that asks. The server answers at once for a subject that
 * nobody serves, so a process that ended is told apart from one that is slow.
 */
import { errors, PermissionViolationError } from "@nats-io/nats-core";
import { MSGPACK, HEADERS, decode, encode } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { objectIn, subscribe } from "../nats/subscription.ts";
import { wireHeaders } from "../nats/wire-headers.ts";

export type Presence =
  | { readonly kind: "answer"; readonly value: object }
  /** The server says that no process serves the subject. */
  | { readonly kind: "nobody" }
  /** Somebody serves it, and has not answered in time. */
  | { readonly kind: "silent" }
  /** This NATS user may not ask there. */
  | { readonly kind: "forbidden" }
  /** The question was not asked, for example because the connection is lost. */
  | { readonly kind: "unasked" };

/** Answers on `subject` for as long as the bus lives, also while it drains. A request that is no object gets no answer. */
export function attend(bus: Bus, subject: string, answer: (request: object) => object): void {
  subscribe(
    bus.nc,
    subject,
    (message) => {
      const request = objectIn(message.data);
      if (request === null) return;
      message.respond(encode(answer(request)), {
        headers: wireHeaders({ [HEADERS.contentType]: MSGPACK }),
      });
    },
    { log: bus.log },
  );
}

export async function probe(
  bus: Bus,
  subject: string,
  request: object,
  timeoutMs: number,
): Promise<Presence> {
  if (!bus.connected) return { kind: "unasked" };
  try {
    const headers = wireHeaders({ [HEADERS.contentType]: MSGPACK });
    const message = await bus.nc.request(subject, encode(request), {
      timeout: Math.max(1, Math.ceil(timeoutMs)),
      headers,
    });
    const value = decode(message.data);
    return typeof value === "object" && value !== null ? { kind: "answer", value } : { kind: "unasked" };
  } catch (error) {
    if (error instanceof errors.RequestError && error.isNoResponders()) return { kind: "nobody" };
    if (error instanceof errors.RequestError && error.cause instanceof PermissionViolationError)
      return { kind: "forbidden" };
    return { kind: error instanceof errors.TimeoutError ? "silent" : "unasked" };
  }
}
