/**
 * The client: sends requests, repeats them under the same key until it has an answer, and records every request and answer. It
 * knows only the answers.
 */
import type { ClientCall } from "../checker/history.ts";

export interface Asked {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

type Call = Pick<ClientCall, "kind"> & Partial<Pick<ClientCall, "key" | "intentId" | "runId">>;

const ANSWER_MS = 15_000;
const PAUSE_MS = 200;

export class Client {
  readonly calls: ClientCall[] = [];
  readonly #urls: readonly string[];
  #turn = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  /** Stores the intent; not part of the history, because storing it promises nothing. */
  async intent(intent: unknown, signal: AbortSignal): Promise<string> {
    const { body } = await this.#until(signal, () => this.#ask("POST", "/intents", intent, {}));
    return String(body["intentId"]);
  }

  /** Starts a run; null: refused for good, or the watch ended first. */
  async start(intentId: string, key: string, signal: AbortSignal): Promise<string | null> {
    const answer = await this.#until(signal, () =>
      this.#recorded({ kind: "start", key, intentId }, "POST", `/intents/${intentId}/run`, undefined, {
        "idempotency-key": key,
      }),
    );
    return answer.status === 202 ? String(answer.body["runId"]) : null;
  }

  async say(kind: "cancel" | "answer", runId: string, signal: AbortSignal): Promise<number> {
    const body =
      kind === "cancel" ? { event: "cancel", reason: "chaos" } : { event: "answer", answers: ["that way"] };
    const path = `/runs/${runId}/events`;
    const answer = await this.#until(signal, () => this.#recorded({ kind, runId }, "POST", path, body, {}));
    return answer.status;
  }

  async look(runId: string, signal: AbortSignal): Promise<string | null> {
    const answer = await this.#recorded(
      { kind: "get", runId },
      "GET",
      `/runs/${runId}`,
      undefined,
      {},
      signal,
    );
    return answer === null || answer.status !== 200 ? null : String(answer.body["status"]);
  }

  /** Repeats while the answer is missing or says "later". */
  async #until(signal: AbortSignal, ask: () => Promise<Asked | null>): Promise<Asked> {
    for (;;) {
      const answer = await ask();
      if (answer !== null && answer.status < 500 && answer.status !== 429) return answer;
      if (signal.aborted) throw new Error("the watch ended before an answer came");
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #recorded(
    call: Call,
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Asked | null> {
    const sentMs = Date.now();
    const answer = await this.#ask(method, path, body, headers, signal);
    const told = answer?.body["runId"];
    this.calls.push({
      id: this.calls.length + 1,
      key: null,
      intentId: null,
      ...call,
      runId: call.runId ?? (answer?.status === 202 && typeof told === "string" ? told : null),
      sentMs,
      answeredMs: answer === null ? null : Date.now(),
      status: answer?.status ?? null,
      runStatus: call.kind === "get" && answer?.status === 200 ? String(answer.body["status"]) : null,
    });
    return answer;
  }

  /** Null: no answer came. */
  async #ask(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<Asked | null> {
    const url = this.#urls[this.#turn++ % this.#urls.length] ?? "";
    const late = AbortSignal.timeout(ANSWER_MS);
    try {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    } catch {
      return null; // The result is unknown, and the history says so.
    }
  }
}
