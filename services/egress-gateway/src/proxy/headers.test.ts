import { describe, expect, it } from "vitest";
import { endToEnd, framing } from "./headers.ts";

describe("a request's framing", () => {
  it.each([
    [[], false],
    [["Content-Length", "0"], false],
    [["content-length", "12"], true],
    [["Transfer-Encoding", "Chunked"], true],
  ])("D1: of %j is one", (headers, body) => expect(framing(headers)).toBe(body));

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
  ])("D1: of %j can be read in two ways, and is refused by name", (headers) => {
    expect(() => framing(headers)).toThrow(
      expect.objectContaining({ code: "ANT_EGRESS_MALFORMED", rule: "header:framing" }) as Error,
    );
  });

  it("D1: goes out anew: nothing of the old one is passed on, nor what `connection` names", () => {
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
});
