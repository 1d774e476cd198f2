import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Span } from "@antiphon/contracts/tracing/span";
import { createLogger } from "../process/logger.ts";
import { liveTracer } from "./live-tracer.ts";
import { otlpDocument } from "./otlp-document.ts";
import { OtlpSink } from "./otlp-sink.ts";

const span: Span = {
  traceId: "a".repeat(32),
  spanId: "b".repeat(16),
  parentSpanId: null,
  name: "run",
  kind: "server",
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001,
  attributes: { text: "x", whole: 3, part: 0.5, yes: true },
  error: "ANT_INTERNAL",
};
const RESOURCE = { service: "director", version: "1.2.3", node: "director_a" };

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A collector that gives these answers in turn, then 200. */
async function collector(...answers: number[]) {
  const got: { path: string; token: string; names: string[] }[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as {
        resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
      };
      const spans = body.resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      );
      const status = answers.shift() ?? 200;
      if (status === 200) {
        const names = spans.map(({ name }) => name);
        got.push({ path: request.url ?? "", token: String(request.headers["x-token"]), names });
      }
      response.writeHead(status).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function logged() {
  const lines: string[] = [];
  const log = createLogger("test", { destination: { write: (line) => void lines.push(line) } });
  return { lines, log };
}

test("a span is written as the protocol wants it: kinds and status by number, times in nanoseconds as text", () => {
  const [only] = (
    otlpDocument(RESOURCE, [span]) as { resourceSpans: [{ scopeSpans: [{ spans: object[] }] }] }
  ).resourceSpans[0].scopeSpans[0].spans;
  expect(only).toEqual({
    traceId: span.traceId,
    spanId: span.spanId,
    name: "run",
    kind: 2,
    startTimeUnixNano: "1700000000000250000",
    endTimeUnixNano: "1700000000001000000",
    attributes: [
      { key: "text", value: { stringValue: "x" } },
      { key: "whole", value: { intValue: "3" } },
      { key: "part", value: { doubleValue: 0.5 } },
      { key: "yes", value: { boolValue: true } },
    ],
    status: { code: 2, message: "ANT_INTERNAL" },
  });
});

test("spans arrive below the endpoint with its headers, after a collector that was busy for a moment", async () => {
  const { got, url } = await collector(503);
  const sink = new OtlpSink({ endpoint: `${url}/`, headers: { "x-token": "t" } }, RESOURCE, logged().log);
  sink.add([span]);
  await sink.close();
  expect(got).toEqual([{ path: "/v1/traces", token: "t", names: ["run"] }]);
});

test("a collector that is gone, or refuses, costs the traces and a warning, and close ends", async () => {
  const { url } = await collector(400);
  const gone = await collector();
  for (const close of closers.splice(1)) close();
  for (const endpoint of [url, gone.url]) {
    const { lines, log } = logged();
    const sink = new OtlpSink({ endpoint, headers: {} }, RESOURCE, log);
    sink.add(Array.from({ length: 3 }, () => span));
    await sink.close();
    expect(lines.join("")).toMatch(/"lost":3,"reason":"(HTTP 400|.*ECONNREFUSED.*)","msg":"traces are lost"/);
  }
});

test("spans inside of one another are told together when the outermost ends, and an error has its code", async () => {
  const told: (readonly Span[])[] = [];
  const tracer = liveTracer({ add: (spans) => void told.push(spans), close: () => Promise.resolve() });
  const parent = { traceId: span.traceId, spanId: span.spanId, sampled: true };
  const failing = tracer.span({ name: "outer", parent }, async () => {
    await tracer.span({ name: "inner" }, () => Promise.resolve());
    expect(told).toEqual([]);
    expect(tracer.outgoing()).toEqual(parent);
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  const [inner, outer] = told[0]!;
  expect(told).toHaveLength(1);
  expect(outer).toMatchObject({ name: "outer", parentSpanId: parent.spanId, error: "ANT_INTERNAL" });
  expect(inner).toMatchObject({ name: "inner", parentSpanId: outer!.spanId, error: null });
});

test("work outside of a trace, or in one that nobody wants recorded, leaves no span", async () => {
  const told: (readonly Span[])[] = [];
  const tracer = liveTracer({ add: (spans) => void told.push(spans), close: () => Promise.resolve() });
  const parent = { traceId: span.traceId, spanId: span.spanId, sampled: false };
  await tracer.span({ name: "a" }, () => Promise.resolve());
  await tracer.span({ name: "b", parent: null }, () => Promise.resolve());
  await tracer.span({ name: "c", parent }, () => tracer.span({ name: "d" }, () => Promise.resolve()));
  expect(told).toEqual([]);
});
