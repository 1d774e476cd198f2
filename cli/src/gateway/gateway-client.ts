// The client for the gateway's HTTP API.
//
// Every failure has a code and a remedy. GET requests are retried. A request that starts a run carries an
// Idempotency-Key, so it is retried too when its answer is lost. Any other POST is sent once. Every POST carries the
// token of a short-lived session; that token stays in this process.
import { setTimeout as sleep } from "node:timers/promises";
import { urlOf } from "@antiphon/client";
import type {
  GetAnswer,
  GetPath,
  ParamsOf,
  PostAnswer,
  PostBody,
  PostParams,
  PostPath,
} from "@antiphon/client";
import { authorization } from "../config.ts";
import { Failure } from "../failure.ts";
import { isOk, refusal, stranger, unreachable } from "./gateway-refusal.ts";
import { http } from "./http-exchange.ts";
import { olderRelease } from "./older-release.ts";
import type { Answer, Asked, HttpPort } from "./http-exchange.ts";
import { runStream, type Following, type LiveOutput, type RunEvent } from "./run-stream.ts";
import { ToldAnswer } from "./told-answer.ts";

export type { RunRecord } from "@antiphon/client";
/** They hold options, and an older gateway would start the run without those that it does not know. */
const STARTS: ReadonlySet<PostPath> = new Set<PostPath>(["/intents", "/runs/{id}/retry"]);
const RETRIES = 4;
const REQUEST_TIMEOUT_MS = 30_000;

export class GatewayClient {
  readonly url: string;
  readonly #token: string | null;
  readonly #http: HttpPort;
  readonly #release: string;
  /** The session's token; never written to disk. */
  #session: Promise<string> | null = null;
  /** The release of the gateway, if it is older than this command line. Known with the session. */
  #older: string | null = null;

  /** `release`: of this command line; empty: that of the gateway is not compared with it. */
  constructor(url: string, token: string | null, release = "", port: HttpPort = http) {
    this.url = url;
    this.#release = release;
    this.#token = token;
    this.#http = port;
  }

  async get<P extends GetPath>(path: P, ...params: ParamsOf<P>): Promise<GetAnswer<P>> {
    return jsonOf(await this.#read(urlOf(path, ...params)));
  }

  /** `url`: of a file, below the gateway's address. */
  async bytes(url: string): Promise<Buffer> {
    return (await this.#read(url)).body;
  }

  /** Retries while the gateway may only be restarting. */
  #read(path: string): Promise<Answer> {
    return again(
      () => this.#request("GET", path, this.#token),
      ({ data }) => data.away === true,
    );
  }

  /** Opens the session with the first POST. */
  #sessionToken(): Promise<string> {
    this.#session ??= this.#request("POST", "/sessions", this.#token)
      .then((answer) => {
        const { token, version } = jsonOf(answer) as { token: string; version?: unknown };
        this.#older = olderRelease(version, this.#release);
        return token;
      })
      .catch((error: unknown) => {
        this.#session = null;
        throw error;
      });
    return this.#session;
  }

  /** `timeoutMs`: for a request that takes minutes. */
  async post<P extends PostPath>(
    path: P,
    params: PostParams<P>,
    body: PostBody<P>,
    timeoutMs = REQUEST_TIMEOUT_MS,
  ): Promise<PostAnswer<P>> {
    await this.#refuseOlder(path);
    return jsonOf(await this.#send(urlOf(path, params), body, {}, timeoutMs)) as PostAnswer<P>;
  }

  /** For a request that takes minutes and tells what it is at. */
  async postFollowed<P extends PostPath>(
    path: P,
    body: PostBody<P>,
    { timeoutMs, hear }: { timeoutMs: number; hear: (news: LiveOutput) => void },
  ): Promise<PostAnswer<P>> {
    const told = new ToldAnswer(hear);
    const accept = { accept: "text/event-stream, application/json" };
    const heard = (part: Buffer): void => told.push(part);
    const answer = await this.#send(urlOf(path, {} as PostParams<P>), body, accept, timeoutMs, heard);
    return jsonOf({ ...answer, body: Buffer.from(told.text(answer.body)) }) as PostAnswer<P>;
  }

  /** Sent at most four times, again after a lost answer or a 503. */
  async postOnce<P extends PostPath>(
    path: P,
    params: PostParams<P>,
    body: PostBody<P>,
    key: string,
  ): Promise<PostAnswer<P>> {
    const answer = await again(
      async () => {
        await this.#refuseOlder(path);
        return this.#send(urlOf(path, params), body, { "idempotency-key": key });
      },
      ({ data }) => data.lost === true || data.away === true || data.httpStatus === 503,
    );
    return jsonOf(answer) as PostAnswer<P>;
  }

  async #refuseOlder(path: PostPath): Promise<void> {
    if (!STARTS.has(path)) return;
    await this.#sessionToken();
    if (this.#older === null) return;
    const message = `${this.url} is Antiphon ${this.#older}, and this command line is ${this.#release}`;
    throw new Failure("ANT_GATEWAY_OLDER", message, {
      data: { gateway: this.#older, release: this.#release },
    });
  }

  async #send(
    path: string,
    body?: unknown,
    extra: Record<string, string> = {},
    timeoutMs = REQUEST_TIMEOUT_MS,
    heard?: Asked["heard"],
  ): Promise<Answer> {
    try {
      return await this.#request("POST", path, await this.#sessionToken(), body, extra, timeoutMs, heard);
    } catch (error) {
      if (Failure.from(error).code !== "ANT_SESSION_EXPIRED") throw error;
      this.#session = null;
      return this.#request("POST", path, await this.#sessionToken(), body, extra, timeoutMs, heard);
    }
  }

  async #request(
    method: string,
    path: string,
    token: string | null,
    body?: unknown,
    extra: Record<string, string> = {},
    timeoutMs = REQUEST_TIMEOUT_MS,
    heard?: Asked["heard"],
  ): Promise<Answer> {
    const headers: Record<string, string> = {
      accept: "application/json",
      ...authorization(token),
      ...extra,
    };
    if (body !== undefined) headers["content-type"] = "application/json";
    const asked = { method, headers, timeoutMs, ...(heard === undefined ? {} : { heard }) };
    const answer = await this.#http
      .exchange(this.url + path, body === undefined ? asked : { ...asked, body: JSON.stringify(body) })
      .catch((error: unknown) => {
        throw unreachable(this.url, { acts: method !== "GET" && path !== "/sessions" }, error);
      });
    if (!isOk(answer.status)) throw refusal(answer.url, answer.status, answer.body.toString());
    return answer;
  }

  /** See runStream. */
  events(runId: string, following: Following): AsyncGenerator<RunEvent> {
    return runStream({ url: this.url, token: this.#token, http: this.#http }, runId, following);
  }
}

/** Tries `work` up to four times, with growing pauses, while `mayPass` accepts the failure. */
async function again<T>(work: () => Promise<T>, mayPass: (failure: Failure) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const failure = Failure.from(error);
      if (!mayPass(failure) || attempt === RETRIES) throw failure;
      await sleep(250 * 2 ** attempt);
    }
  }
}

function jsonOf({ url, status, body }: Answer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw stranger(url, status, error);
  }
}
