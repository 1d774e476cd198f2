// One HTTP request and its answer, over node:http: `fetch` leaves its promise open for ever when the peer accepts a
// connection and closes it, and a process whose only work is such a promise ends without a word.
//
//   X1  Every exchange settles: `close` is the last event of a request and always comes, so a peer that hangs up at
//       any point is a rejection, and so is silence, by a timer that keeps the process alive.
import { request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";

export interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the first byte sent to the last one received. */
  readonly timeoutMs: number;
}

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly body: Buffer;
}

/** How requests leave; tests have one of their own. */
export interface HttpPort {
  exchange(url: string, asked: Asked): Promise<Answer>;
  /** Resolves with the head; the body is read from the message. Ends when `signal` fires. */
  open(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage>;
}

/** The peer was silent for too long, or hung up: `code` is that of the socket, or one of these two. */
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
      reject(hungUp("ECONNRESET", "the connection was closed before the answer was whole")); // X1
    });
    call.once("response", (message) => {
      const parts: Buffer[] = [];
      message.on("data", (part: Buffer) => parts.push(part));
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
    call.once("close", () => reject(hungUp("ECONNRESET", "the connection was closed before an answer"))); // X1
    call.once("response", resolve);
    call.end();
  });
}

/** A request that is not a GET gets a connection of its own: an idle one may be closing just when it is used. */
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
