// One HTTP request and its answer, over node:http instead of `fetch`: when a peer accepts a connection and closes it,
// the promise of `fetch` never settles, and a process that waits only for it ends silently.
//
// Here every exchange settles. `close` is the last event of each request, so a hang-up at any point rejects. If the
// peer stays silent, a timer rejects; until then the timer keeps the process alive.
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

export interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the first byte sent to the last one received. */
  readonly timeoutMs: number;
  /** Gets each part of the body as it comes. */
  readonly heard?: (part: Buffer) => void;
}

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly body: Buffer;
}

/** How requests are sent; tests replace it. */
export interface HttpPort {
  exchange(url: string, asked: Asked): Promise<Answer>;
  /** Resolves with the response head; the caller reads the body from the message. Ends when `signal` fires. */
  open(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage>;
}

/** The error's `code` is the socket's own, or one of these: the peer was silent too long, or hung up. */
export type HangUp = "ETIMEDOUT" | "ECONNRESET";

export const http: HttpPort = { exchange, open };

function exchange(url: string, asked: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = begin(url, asked.method, asked.headers);
    const timer = setTimeout(
      () => call.destroy(hungUp("ETIMEDOUT", `no answer in ${asked.timeoutMs} ms`)),
      asked.timeoutMs,
    );
    call.once("error", reject);
    call.once("close", () => {
      clearTimeout(timer);
      reject(hungUp("ECONNRESET", "the connection was closed before the answer was complete"));
    });
    call.once("response", (message) => {
      const parts: Buffer[] = [];
      message.on("data", (part: Buffer) => {
        parts.push(part);
        try {
          asked.heard?.(part);
        } catch (error) {
          // cli/C1: what a gateway says may be anything.
          reject(error instanceof Error ? error : new Error(String(error)));
          call.destroy();
        }
      });
      message.once("error", reject);
      message.once("end", () =>
        resolve({ url, status: message.statusCode ?? 0, body: Buffer.concat(parts) }),
      );
    });
    call.end(asked.body);
  });
}

function open(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const call = begin(url, "GET", headers, signal);
    call.once("error", reject);
    call.once("close", () => reject(hungUp("ECONNRESET", "the connection was closed before an answer")));
    call.once("response", resolve);
    call.end();
  });
}

/** A request other than GET gets a connection of its own, because a reused idle one may be closing at that moment. */
function begin(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): ClientRequest {
  const make = url.startsWith("https:") ? httpsRequest : httpRequest;
  return make(url, {
    method,
    headers: { ...headers },
    ...(method === "GET" ? {} : { agent: false as const }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function hungUp(code: HangUp, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
