/**
 * Calls the REST API of an issue tracker with the deployment's token. The token goes to that server alone: redirects are not
 * followed, pages are asked for by number, and no answer's text may contain it.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { hasNext, reasonOf, retryAt } from "./issue-answer.ts";

export interface TrackerAccess {
  /** Its API, without a slash at the end. */
  readonly api: string;
  /** Null: public issues are read without an account. */
  readonly token: string | null;
  /** How the token is sent. */
  readonly scheme: "Bearer" | "token";
}

type Method = "GET" | "POST" | "PATCH";

/** The server counts calls and takes the next one at `at`. */
export class TrackerThrottled extends AntiphonError {
  readonly at: number;

  constructor(detail: string, at: number) {
    super("ANT_WORK_ITEMS_THROTTLED", detail);
    this.at = at;
  }
}

export class TrackerClient {
  readonly #access: TrackerAccess;

  constructor(access: TrackerAccess) {
    this.#access = access;
  }

  async call(method: Method, path: string, signal: AbortSignal, body?: object): Promise<unknown> {
    return (await this.#exchange(method, path, signal, body)).value;
  }

  /** All elements of a list that is served in pages. */
  async *pages(path: string, signal: AbortSignal): AsyncGenerator<unknown> {
    for (let page = 1; page <= limits.trackerPages; page += 1) {
      const asked = `${path}${path.includes("?") ? "&" : "?"}page=${page}`;
      const { value, next } = await this.#exchange("GET", asked, signal);
      if (!Array.isArray(value)) throw this.#unreadable(asked, "no list");
      yield* value as unknown[];
      if (!next) return;
    }
    throw new AntiphonError("ANT_CONTRACT_LIMIT", `${path} has more than ${limits.trackerPages} pages`);
  }

  async #exchange(
    method: Method,
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<{ value: unknown; next: boolean }> {
    const { api, token, scheme } = this.#access;
    const deadline = AbortSignal.timeout(limits.trackerCallMs);
    try {
      const response = await fetch(`${api}${path}`, {
        method,
        redirect: "manual",
        signal: AbortSignal.any([signal, deadline]),
        headers: {
          accept: "application/json",
          "user-agent": "antiphon",
          ...(token === null ? {} : { authorization: `${scheme} ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const value = await this.#read(response, path);
      if (!response.ok) throw this.#refusal(response, path, value);
      return { value, next: hasNext(response.headers.get("link")) };
    } catch (error) {
      if (error instanceof AntiphonError) throw error;
      if (signal.aborted) throw new AntiphonError("ANT_SANDBOX_CANCELED", "the command was cancelled");
      const why = deadline.aborted ? `no answer in ${limits.trackerCallMs} ms` : "the connection failed";
      throw new AntiphonError("ANT_WORK_ITEMS_UNAVAILABLE", `${api}: ${why}`, { cause: error });
    }
  }

  /** Null: the body is no JSON. */
  async #read(response: Response, path: string): Promise<unknown> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      if ((size += chunk.length) > limits.trackerAnswerBytes) throw this.#unreadable(path, "too large");
    }
    const text = Buffer.concat(chunks).toString("utf8");
    try {
      return JSON.parse(text);
    } catch (error) {
      if (response.ok) throw this.#unreadable(path, "not JSON", error);
      return null;
    }
  }

  #unreadable(path: string, why: string, cause?: unknown): AntiphonError {
    const detail = `the answer of ${this.#access.api}${path} is ${why}`;
    return new AntiphonError("ANT_WORK_ITEMS_UNREADABLE", detail, { cause });
  }

  #refusal({ status, headers }: Response, path: string, value: unknown): AntiphonError {
    const { api, token } = this.#access;
    const reason = token === null ? reasonOf(value) : reasonOf(value).replaceAll(token, "***");
    const detail = `${api}${path} answered ${status}${reason === "" ? "" : `: ${reason}`}`;
    const at = retryAt(status, headers, Date.now());
    if (at !== null) return new TrackerThrottled(detail, at);
    if (status === 401) return new AntiphonError("ANT_WORK_ITEMS_CREDENTIALS", detail);
    if (status === 403) return new AntiphonError("ANT_WORK_ITEMS_FORBIDDEN", detail);
    if (status === 404 || status === 410) return new AntiphonError("ANT_WORK_ITEM_NOT_FOUND", detail);
    if (status >= 500) return new AntiphonError("ANT_WORK_ITEMS_UNAVAILABLE", detail);
    if (status >= 400) return new AntiphonError("ANT_WORK_ITEM_REFUSED", detail);
    return new AntiphonError("ANT_WORK_ITEMS_UNREADABLE", `${detail}; a redirect is not followed`);
  }
}
