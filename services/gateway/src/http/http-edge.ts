// What arrives at the gateway and is no request of it: other methods, and bytes that are no HTTP.
import { AntiphonError } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import type { FastifyInstance } from "fastify";
import type { Socket } from "node:net";
import { errorReply } from "./error-reply.ts";
import { MethodTable } from "./method-table.ts";

/** The methods of each path, learnt as its routes are declared. */
export function learnMethods(server: FastifyInstance): MethodTable {
  const table = new MethodTable();
  server.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) table.add(url, String(one));
  });
  return table;
}

/** By the codes of Node's HTTP parser; anything else is no HTTP that can be read. */
export function unreadable(error: NodeJS.ErrnoException): AntiphonError {
  if (error.code === "HPE_HEADER_OVERFLOW") return new AntiphonError("ANT_GATEWAY_HEADERS");
  if (error.code === "HPE_INVALID_METHOD")
    return new AntiphonError(
      "ANT_GATEWAY_METHOD",
      "the request starts with no method that this gateway knows",
    );
  return new AntiphonError("ANT_GATEWAY_REQUEST", `the request cannot be read (${error.code ?? "unknown"})`);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  431: "Request Header Fields Too Large",
};

/** There is no request yet, so no reply either: the answer is written as it goes over the wire. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, log: Logger): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const { status, body } = errorReply(unreadable(error));
  const text = JSON.stringify(body);
  log.info({ from: socket.remoteAddress, code: body.error["code"], status }, "request refused");
  const allow = status === 405 ? ["Allow: GET, HEAD, POST"] : [];
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Bad Request"}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Cache-Control: no-store",
    "Connection: close",
    ...allow,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}
