import { describe, expect, it } from "vitest";
import { endToEnd, framing } from "./headers.ts";

describe("a request's framing", () => {
  it.each([
    [[], false],
    [["Content-Length", "0"], false],
    [["content-length", "12"], true],
    [["Transfer-Encoding", "Chunked"], true],
  ])("of %j is accepted", (headers, body) => expect(framing(headers)).toBe(body));

  it.each([
    [["Content-Length", "4", "content-length", "4"]],
    [["Content-Length", "4", "Transfer-Encoding", "chunked"]],
    [["Transfer-Encoding", "chunked", "Transfer-Encoding", "identity"]],
    [["Transfer-Encoding", "gzip, chunked"]],
    [["Transfer-Encoding", "xchunked"]],
    [["Content-Length", "+4"]],
    [["Content-Length", "0x4"]],
    [["Content-Length", "4, 4"]],
    [["Content-Length", ""]],
  ])("egress-gateway/E5: of %j can be read in two ways, and is refused", (headers) => {
    expect(() => framing(headers)).toThrow(
      expect.objectContaining({ code: "ANT_EGRESS_MALFORMED", rule: "header:framing" }) as Error,
    );
  });

  it("is not passed on, and neither are the headers that `connection` names", () => {
    const given = {
      "transfer-encoding": "chunked",
      connection: "close, X-Once",
      "x-once": "1",
      te: "trailers",
      host: "a",
      accept: "b",
    };
    expect(endToEnd(given)).toEqual({ accept: "b" });
  });

  it.each([
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
  ])("egress-gateway/E5: %s, by which a server takes a request for another, is not among them", (name) => {
    expect(endToEnd({ accept: "b", [name]: "DELETE" })).toEqual({ accept: "b" });
  });
});
