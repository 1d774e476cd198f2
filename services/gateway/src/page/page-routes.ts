/** Serves the page. Its policy lets it load scripts and styles from the gateway only, and be framed by nobody. */
import { AntiphonError } from "@antiphon/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { PageFiles } from "./page-files.ts";

/** Routes that answer without a token: their files hold nothing of a run. */
export const PAGE_PATHS: ReadonlySet<string> = new Set(["/", "/page/:file"]);

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function addPage(server: FastifyInstance, files: PageFiles): void {
  server.get("/", (request, reply) => send(files, "index.html", request, reply));
  server.get<{ Params: { file: string } }>("/page/:file", (request, reply) =>
    send(files, request.params.file, request, reply),
  );
}

function send(files: PageFiles, name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const file = files.get(name);
  if (file === undefined) throw new AntiphonError("ANT_GATEWAY_ROUTE", missing(files, name));
  void reply
    .header("cache-control", "no-cache") // The browser asks again with the validator, so a new build shows at once.
    .header("content-security-policy", POLICY)
    .header("referrer-policy", "no-referrer")
    .header("vary", "accept-encoding")
    .header("etag", file.etag)
    .type(file.type);
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  const { "accept-encoding": accepted = "" } = request.headers;
  if (!/\bgzip\b/.test(String(accepted))) return reply.send(file.bytes);
  return reply.header("content-encoding", "gzip").send(file.gzipped);
}

function missing(files: PageFiles, name: string): string {
  if (files.size > 0) return `the page has no file ${JSON.stringify(name.slice(0, 80))}`;
  return "this gateway has no page: it runs from sources, and ANTIPHON_PAGE names no built one";
}
