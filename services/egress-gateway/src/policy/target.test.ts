import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EgressRefusal } from "./refusal.ts";
import { checkHost, parseAbsolute, parseOrigin, redacted } from "./target.ts";

const AT = { host: "a.example", port: 443 };

describe("a target", () => {
  it("keeps path and query as they were sent", () => {
    expect(parseAbsolute("http://A.example:8080/b%20c?d=e")).toEqual({
      scheme: "http",
      host: "a.example",
      port: 8080,
      path: "/b%20c",
      query: "d=e",
    });
    expect(parseOrigin("/@scope%2fname", AT)).toMatchObject({ path: "/@scope%2fname", query: null });
  });

  it("egress-gateway/E5: is refused when two programs could read its path differently", () => {
    const bad = [
      "/a/../b",
      "/%2e%2e/b",
      "/%2E./b",
      "/.%2e",
      "/a%2f..%2fb",
      "/%252e%252e/b",
      "/a%00",
      "/a%0d%0a",
      "/a\\b",
      "/a%5cb",
      "/%zz",
      "/a b",
    ];
    for (const path of bad)
      expect([path, refusedFor(() => parseOrigin(path, AT))]).toEqual([path, "ANT_EGRESS_MALFORMED"]);
  });

  it("that is accepted reads the same in the WHATWG URL parser, and other text is refused with a code", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl({ validSchemes: ["http"], withQueryParameters: true }),
          fc.string({ maxLength: 60 }),
        ),
        (url) => {
          let target;
          try {
            target = parseAbsolute(url);
          } catch (error) {
            return error instanceof EgressRefusal;
          }
          const read = new URL(url);
          const query = target.query === null ? "" : target.query === "" ? "" : `?${target.query}`;
          return (
            read.hostname === target.host &&
            read.pathname === target.path &&
            read.search === query.replaceAll("'", "%27")
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it("egress-gateway/E5: must have one Host header, which names it", () => {
    const target = parseOrigin("/", AT);
    checkHost(target, ["A.EXAMPLE"]);
    checkHost(target, ["a.example:443"]);
    expect(refusedFor(() => checkHost(target, []))).toBe("ANT_EGRESS_MALFORMED");
    expect(refusedFor(() => checkHost(target, ["a.example", "a.example"]))).toBe("ANT_EGRESS_MALFORMED");
    expect(refusedFor(() => checkHost(target, ["b.example"]))).toBe("ANT_EGRESS_MISMATCH");
    expect(refusedFor(() => checkHost(target, ["a.example:80"]))).toBe("ANT_EGRESS_MISMATCH");
  });

  it("appears in a log without the values of its query", () => {
    expect(redacted("/a", "key=secret&flag&b=")).toBe("/a?key=…&…&b=…");
  });
});

function refusedFor(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof EgressRefusal ? error.code : String(error);
  }
}
