/**
 * One request of a sandbox, from its head to the last byte of its answer.
 *
 * Lifecycle: read (target, Host, framing) -> checked against the policy -> sent -> answered -> logged. A request that is
 * refused before the answer's head gets the refusal as its answer; later, the connection is cut.
 *
 * Promises:
 *   egress-gateway/E6 Because a request is sent only after the policy has allowed it, and each request writes exactly one log
 *     line when it ends, however it ends, the log shows every request of a sandbox, up to its line limit (leases.ts).
 *   egress-gateway/E7 Because each wait has a deadline, and an exchange also ends when its connection closes, a sandbox or
 *     an upstream that stalls cannot hold a connection, or the reservation of a model call, forever.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CheckpointAsk } from "../checkpoints/checkpoint-exchange.ts";
import type { Upstream } from "./upstream.ts";
import { injected, type Credential } from "../policy/credentials.ts";
import { cleanHeaders, requireWhole, whole } from "./answer-head.ts";
import { allOf, endToEnd, framing, type Headers } from "./headers.ts";
import type { Authority } from "../policy/host-name.ts";
import type { LogEntry, ModelEntry } from "../policy/log-entry.ts";
import { passRule, ruleFor, type HostRule, type Policy } from "../policy/policy.ts";
import type { Quota } from "../policy/quota.ts";
import type { Deadlines } from "./deadlines.ts";
import { counting, passedOn } from "./passed-on.ts";
import { decisionOf, EgressRefusal } from "../policy/refusal.ts";
import { scrubbed, Scrubber } from "../policy/scrubber.ts";
import { checkHost, parseAbsolute, parseOrigin, redacted, type Target } from "../policy/target.ts";
import { asRefusal, sendRefusal } from "./refusal-answer.ts";
import { Watch } from "./watch.ts";

export interface ExchangePorts {
  readonly policy: Policy;
  readonly known: readonly HostRule[];
  readonly credentials: readonly Credential[];
  /** Texts to mask, longest first. */
  readonly secrets: readonly string[];
  readonly upstream: Pick<Upstream, "send">;
  readonly quota: Quota;
  readonly deadlines: Deadlines;
  readonly log: (entry: LogEntry) => void;
  /** Carries out a request to a model host, and ends the response. */
  readonly model: (call: ModelAsk) => Promise<ModelAnswer>;
  /** Carries out a request about a checkpoint, ends the response, and returns its status. */
  readonly checkpoint: (ask: CheckpointAsk) => Promise<number>;
  readonly now: () => number;
}

export interface ModelAsk {
  readonly target: Target;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: Headers;
  /** The body, if it has been read already. */
  readonly body?: Buffer;
  /** The credentials among `headers`. */
  readonly credentials?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Count the bytes that pass; throw when the quota is exceeded. */
  readonly up: (bytes: number) => void;
  readonly down: (bytes: number) => void;
  /** Told about a call that left and failed, for its log line. */
  readonly onModel?: (entry: ModelEntry) => void;
}

export interface ModelAnswer {
  readonly rule: string;
  readonly status: number;
  readonly entry: ModelEntry | null;
}

/** The facts about the exchange so far, for its log line. */
interface Course {
  target: Target | null;
  rule: string;
  status: number | null;
  up: number;
  down: number;
  model: ModelEntry | null;
}

/** `tunnel`: the target of the CONNECT that the request came through; null: it came to the proxy directly. */
export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  tunnel: Authority | null,
  ports: ExchangePorts,
): Promise<void> {
  const startedAt = ports.now();
  const course: Course = { target: null, rule: "none", status: null, up: 0, down: 0, model: null };
  const watch = new Watch(ports.deadlines, () => stalled(request, response, course.target));
  const { socket } = request;
  const gone = (): void => watch.gone();
  response.once("close", gone);
  socket.once("close", gone); // egress-gateway/E7: Node never closes a response that is queued behind another one
  let fault: EgressRefusal | null = null;
  try {
    await carry(request, response, tunnel, ports, course, watch);
  } catch (error) {
    fault = asRefusal(error, watch.signal);
    if (sendRefusal(response, fault)) course.status = fault.status;
  } finally {
    watch.end();
    socket.off("close", gone); // the connection may serve more requests
  }
  const { target } = course;
  ports.log({
    at: new Date(startedAt).toISOString(),
    method: (request.method ?? "").slice(0, 32),
    host: target?.host ?? tunnel?.host ?? "",
    port: target?.port ?? tunnel?.port ?? 0,
    path: target === null ? null : scrubbed(redacted(target.path, target.query), ports.secrets),
    decision: decisionOf(fault),
    rule: fault?.rule ?? course.rule,
    code: fault?.code ?? null,
    why: fault === null ? null : scrubbed(fault.message, ports.secrets).slice(0, 300),
    status: course.status,
    bytes_up: course.up,
    bytes_down: course.down,
    ms: Math.round(ports.now() - startedAt),
    ...(course.model === null ? {} : { model: course.model }),
  }); // egress-gateway/E6
}

async function carry(
  request: IncomingMessage,
  response: ServerResponse,
  tunnel: Authority | null,
  ports: ExchangePorts,
  course: Course,
  watch: Watch,
): Promise<void> {
  const { signal } = watch;
  ports.quota.request();
  const target = tunnel === null ? parseAbsolute(request.url ?? "") : parseOrigin(request.url ?? "", tunnel);
  course.target = target;
  checkHost(target, allOf(request.rawHeaders, "host"));
  const body = framing(request.rawHeaders);
  const rule = ruleFor(ports.policy, target.host, target.port, ports.known);
  const contentType = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  course.rule = passRule(rule, { target, method: request.method ?? "", body, contentType }); // egress-gateway/E6
  if (!rule.terminate)
    throw new EgressRefusal("ANT_EGRESS_HOST", "tunnel:plain", `${target.host} is reached by CONNECT only`);
  if (rule.kind === "checkpoint") {
    // Nothing leaves, so they do not count among the bytes that the sandbox may send.
    const count = (way: "up" | "down") => (bytes: number) => {
      watch.moved();
      course[way] += bytes;
    };
    const own = { target, request, response, signal, up: count("up"), down: count("down") };
    course.status = await ports.checkpoint(own);
    return;
  }
  const credentials = injected(ports.credentials, target);
  const hasCredential = Object.keys(credentials).length > 0;
  const headers = {
    ...(hasCredential ? whole(endToEnd(request.headers)) : endToEnd(request.headers)),
    // egress-gateway/E2: an encoded answer cannot be masked.
    ...(hasCredential || rule.kind === "model" ? { "accept-encoding": "identity" } : {}),
    ...credentials,
  };
  const up = (bytes: number): void => {
    watch.moved();
    ports.quota.up(bytes);
    course.up += bytes;
  };
  const down = (bytes: number): void => {
    watch.moved();
    ports.quota.down(bytes);
    course.down += bytes;
  };
  if (rule.kind === "model") {
    const onModel = (entry: ModelEntry): void => void (course.model = entry);
    const answer = await ports.model({
      target,
      request,
      response,
      headers,
      credentials,
      signal,
      up,
      down,
      onModel,
    });
    Object.assign(course, { rule: answer.rule, status: answer.status, model: answer.entry });
    return;
  }
  const counted = body ? request.pipe(counting(up)) : null;
  const method = request.method ?? "GET";
  const answer = await ports.upstream.send({ target, method, headers, body: counted, signal });
  watch.moved();
  course.status = answer.statusCode ?? 0;
  if (hasCredential) requireWhole(answer, target.host);
  response.writeHead(course.status, cleanHeaders(answer, ports.secrets));
  // egress-gateway/E2: another host may have been told the secret by the credential's own.
  const scrub = ports.secrets.length > 0 ? new Scrubber(ports.secrets) : null;
  await passedOn(answer, counting(down, scrub), response, signal);
}

/** The refusal for an idle exchange; its rule names the side that stalls. */
function stalled(request: IncomingMessage, response: ServerResponse, target: Target | null): EgressRefusal {
  const late = (rule: string, why: string): EgressRefusal =>
    new EgressRefusal("ANT_EGRESS_TIMEOUT", rule, why);
  if (response.writableLength > 0) return late("client:idle", "the sandbox does not take its answer");
  if (!request.complete && request.readableLength === 0)
    return late("client:idle", "the sandbox does not send the rest of its request");
  return late("upstream:idle", `${target?.host ?? "the upstream"} went silent`);
}
