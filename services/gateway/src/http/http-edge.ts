// Answers to input that matches no route: other methods, and bytes that are not HTTP.
import { AntiphonError } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import type { FastifyInstance } from "fastify";
import type { Socket } from "node:net";
import { errorReply, PROBLEM_TYPE } from "./error-reply.ts";
import { MethodTable } from "./method-table.ts";

/** Collects the methods of each path as its routes are declared. */
export function learnMethods(server: FastifyInstance): MethodTable {
  const table = new MethodTable();
  server.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) table.add(url, String(one));
  });
  return table;
}

/** Maps the codes of Node's HTTP parser; any other error means unreadable HTTP. */
export function unreadable(error: NodeJS.ErrnoException): AntiphonError {
  if (error.code === "HPE_HEADER_OVERFLOW") return new AntiphonError("ANT_GATEWAY_HEADERS");
  if (error.code === "HPE_INVALID_METHOD")
    return new AntiphonError("ANT_GATEWAY_METHOD", "the request starts with an unknown method");
  return new AntiphonError("ANT_GATEWAY_REQUEST", `the request cannot be read (${error.code ?? "unknown"})`);
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  431: "Request Header Fields Too Large",
};

/** Without a request there is no reply object, so the raw answer is written to the socket. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, log: Logger): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const { status, body } = errorReply(unreadable(error));
  const text = JSON.stringify(body);
  log.info({ from: socket.remoteAddress, code: body.code, status }, "request refused");
  const allow = status === 405 ? ["Allow: GET, HEAD, POST"] : [];
  const head = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Bad Request"}`,
    `Content-Type: ${PROBLEM_TYPE}; charset=utf-8`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Cache-Control: no-store",
    "Connection: close",
    ...allow,
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`);
}
