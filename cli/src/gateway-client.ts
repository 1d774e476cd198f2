// The CLI's one way out: HTTP to the gateway.
//
// Invariants:
//   G1  Every failure has a code and a remedy; "no gateway" and "the gateway says no" are told apart.
//   G3  What a person says is sent with the short-lived token of a session, which lives in this process only.
//   G2  A request that starts something carries an Idempotency-Key, so it may be sent again when its answer is lost.
import type { JournalRecord } from "@antiphon/contracts";
import { authorization } from "./config.ts";
import { Failure } from "./failure.ts";
import { refusal, unreachable } from "./gateway-refusal.ts";
import { SseParser } from "./sse-parser.ts";

/** A journal record as it comes over HTTP. */
export type RunRecord = JournalRecord & { seq: number; digest: string; at: string; signature?: string };
export interface LiveOutput {
  readonly taskId: string | null;
  readonly stream: string;
  readonly epoch: number;
  readonly text: string;
}
/** What is asked for beside the records: nothing, what work is at, or also what commands print. */
export type LiveLogs = "none" | "progress" | "all";
export type RunEvent =
  { kind: "record"; record: RunRecord } | { kind: "output"; output: LiveOutput } | { kind: "reconnecting" };

const RETRIES = 4;
const REQUEST_TIMEOUT_MS = 30_000;
const SILENCE_MS = 30_000; // The gateway beats every 10 s.
const GIVE_UP_MS = 60_000;

export class GatewayClient {
  readonly url: string;
  readonly #token: string | null;
  /** G3: never written anywhere. */
  #session: Promise<string> | null = null;

  constructor(url: string, token: string | null) {
    this.url = url;
    this.#token = token;
  }

  async get<T>(path: string): Promise<T> {
    return (await (await this.#send("GET", path)).json()) as T;
  }

  async bytes(path: string): Promise<Buffer> {
    return Buffer.from(await (await this.#send("GET", path)).arrayBuffer());
  }

  /** The session's token; opened with the first thing said. */
  #sessionToken(): Promise<string> {
    this.#session ??= this.#request("POST", "/sessions", this.#token)
      .then(async (answer) => ((await answer.json()) as { token: string }).token)
      .catch((error: unknown) => {
        this.#session = null;
        throw error;
      });
    return this.#session;
  }

  async post<T>(path: string, body: unknown): Promise<T> {
    return (await (await this.#send("POST", path, body)).json()) as T;
  }

  /** G2: sent again on a lost answer or a 503, at most four times. */
  async postOnce<T>(path: string, body: unknown, key: string): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#send("POST", path, body, { "idempotency-key": key });
        return (await answer.json()) as T;
      } catch (error) {
        const failure = Failure.from(error);
        const mayPass = failure.data.lost === true || failure.data.httpStatus === 503;
        if (!mayPass || attempt === RETRIES) throw failure;
        await pause(250 * 2 ** attempt);
      }
    }
  }

  async #send(
    method: string,
    path: string,
    body?: unknown,
    extra: Record<string, string> = {},
  ): Promise<Response> {
    if (method === "GET") return this.#request(method, path, this.#token, body, extra);
    try {
      return await this.#request(method, path, await this.#sessionToken(), body, extra); // G3
    } catch (error) {
      if (Failure.from(error).code !== "ANT_SESSION_EXPIRED") throw error;
      this.#session = null;
      return this.#request(method, path, await this.#sessionToken(), body, extra);
    }
  }

  async #request(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
    extra: Record<string, string> = {},
  ): Promise<Response> {
    const headers: Record<string, string> = {
      accept: "application/json",
      ...authorization(token),
      ...extra,
    };
    if (body !== undefined) headers["content-type"] = "application/json";
    let response: Response;
    try {
      response = await fetch(this.url + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
    } catch (error) {
      throw unreachable(this.url, error);
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /**
   * The journal of a run from the record after `afterSeq` on, until it is closed or `signal` fires. Survives a lost
   * connection by resuming behind the last record; gives up after a minute without a gateway.
   */
  async *events(
    runId: string,
    options: { afterSeq: number; logs: LiveLogs; signal: AbortSignal },
  ): AsyncGenerator<RunEvent> {
    let afterSeq = options.afterSeq;
    let lostAt: number | null = null;
    while (!options.signal.aborted) {
      try {
        for await (const event of this.#stream(runId, afterSeq, options.logs, options.signal)) {
          lostAt = null;
          yield event;
          if (event.kind !== "record") continue;
          afterSeq = event.record.seq;
          if (event.record.type === "closed") return;
        }
      } catch (error) {
        if (options.signal.aborted) return;
        const failure = Failure.from(error);
        const mayPass = failure.code === "ANT_GATEWAY_UNREACHABLE" || failure.data.httpStatus === 503;
        if (!mayPass || (lostAt !== null && Date.now() - lostAt > GIVE_UP_MS)) throw failure;
      }
      if (lostAt === null) yield { kind: "reconnecting" };
      lostAt ??= Date.now();
      await pause(500);
    }
  }

  async *#stream(
    runId: string,
    afterSeq: number,
    logs: LiveLogs,
    signal: AbortSignal,
  ): AsyncGenerator<RunEvent> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const asked = { none: "", progress: "?logs=progress", all: "?logs=1" }[logs];
      const response = await fetch(`${this.url}/runs/${runId}/events${asked}`, {
        headers: {
          accept: "text/event-stream",
          "last-event-id": String(afterSeq),
          ...authorization(this.#token),
        },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (!response.ok || response.body === null) throw await refusal(response);
      const parser = new SseParser();
      const decoder = new TextDecoder();
      for await (const chunk of response.body) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        for (const event of parser.push(decoder.decode(chunk as Uint8Array, { stream: true }))) {
          const data: unknown = JSON.parse(event.data);
          if (event.event === "log") yield { kind: "output", output: data as LiveOutput };
          else yield { kind: "record", record: data as RunRecord };
        }
      }
    } catch (error) {
      throw error instanceof Failure ? error : unreachable(this.url, error);
    } finally {
      clearTimeout(timer);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
