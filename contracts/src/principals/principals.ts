/**
 * The principals of NATS. Every service has a NATS user of its own, with the rights of rights.ts; the server refuses
 * everything else.
 *
 * A permission on subjects alone would not hold: the server sends the answer to a request to any reply subject the
 * requester names, without a look at the requester's permissions. A service that may read one stored message could
 * so have it delivered to `$JS.API.STREAM.PURGE.<stream>`, or to the register of an approval. So every service but the Director
 * has an account of its own, which imports exactly what that table lists. An answer stays in the account that asked.
 *
 * The Director provisions the server and shares the streams' account with two users for people: `operator` reads, and
 * `admin` may do everything.
 *
 * Promises:
 *   contracts/C7 Because a service may be taken over, its NATS user can publish, ask and hear what its row lists and
 *     nothing else: only Directors write decisions, only sandbox-runners serve sandboxes, and an Associate writes claims,
 *     results, manifests and evidence files.
 */
import { limits } from "../limits.ts";

export const PRINCIPALS = [
  "gateway",
  "router",
  "director",
  "associate",
  "sandbox-runner",
  "egress",
  "operator",
  "admin",
] as const;
export type Principal = (typeof PRINCIPALS)[number];

export const isPrincipal = (name: string): name is Principal =>
  (PRINCIPALS as readonly string[]).includes(name);

/** The answers to a request: one; several within a minute; or several for as long as an attempt may take. */
export type Answers = "one" | "many" | "long";

/** A subject to publish on. `answers` of a message without a reply subject is "one". */
export interface Ask {
  readonly subject: string;
  readonly answers: Answers;
}

export interface Rights {
  readonly asks: readonly Ask[];
  /** Subjects on which it hears what others publish. */
  readonly hears: readonly string[];
  /** Subjects on which it answers requests. */
  readonly serves: readonly string[];
  /**
   * How it may answer. `received`: the reply subjects of messages that reached it, for a limited time, which includes the
   * acknowledgements of its deliveries; the server remembers each one. `any`: every reply subject of its account; for
   * trusted services with thousands of messages a second.
   */
  readonly replies: "received" | "any";
}

/** The principals that are services, each of which answers NATS micro requests under its name. */
export const SERVICES = PRINCIPALS.filter((name) => name !== "operator" && name !== "admin");

/** Seconds for which a principal with `replies: "received"` may answer a message. */
export const REPLY_WINDOW_S: Readonly<Partial<Record<Principal, number>>> = {
  associate: 3_600, // After that an acknowledgement is refused, and the second delivery finds the result.
  "sandbox-runner": limits.taskTimeBudgetMaxS + 3_600,
  egress: 60,
};
