import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAuthority, parseHostName } from "./host-name.ts";
import { EgressRefusal } from "./refusal.ts";

const codeOf = (act: () => unknown): string | null => {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof EgressRefusal ? error.code : `not a refusal: ${String(error)}`;
  }
};

describe("a host name", () => {
  it("is read in lower case, and may hold dashes, digits and punycode", () => {
    expect(parseHostName("API.Example.COM")).toBe("api.example.com");
    expect(parseHostName("xn--bcher-kva.example")).toBe("xn--bcher-kva.example");
    expect(parseHostName("3com.example")).toBe("3com.example");
  });

  it.each([
    ...[
      "",
      ".",
      "a..b",
      ".a.b",
      "a.b.",
      "-a.b",
      "a-.b",
      "a b.c",
      "a_b.c",
      "a%2eb.c",
      "a\0.b",
      "bücher.example",
    ],
    ...["a.b/c", "a.b?c", "a.b#c", "a.b\\c", "a.b\n", `${"a".repeat(64)}.b`, `${"a.".repeat(127)}bb`],
  ])("is not %j", (text) => expect(codeOf(() => parseHostName(text))).toBe("ANT_EGRESS_MALFORMED"));

  it.each([
    ...[
      "127.0.0.1",
      "1.1.1.1",
      "2130706433",
      "0x7f.1",
      "0177.0.0.01",
      "1.2.3",
      "0x7f000001",
      "[::1]",
      "::1",
      "1.2.3.0x4",
    ],
    ...["localhost", "db", "a.localhost", "x.local", "metadata.google.internal", "1.0.0.127.in-addr.arpa"],
  ])("is not an address or a local name: %j", (text) =>
    expect(codeOf(() => parseHostName(text))).toBe("ANT_EGRESS_ADDRESS"),
  );

  it("that is accepted reads the same in the WHATWG URL parser", () => {
    fc.assert(
      fc.property(fc.oneof(fc.domain(), fc.string({ maxLength: 40 }), fc.webAuthority()), (text) => {
        let host: string;
        try {
          host = parseHostName(text);
        } catch (error) {
          return error instanceof EgressRefusal;
        }
        return new URL(`http://${text}/`).hostname === host && parseHostName(host) === host;
      }),
      { numRuns: 3000 },
    );
  });
});

describe("an authority", () => {
  it("has one port, in plain digits", () => {
    expect(parseAuthority("a.example:8443", null)).toEqual({ host: "a.example", port: 8443 });
    expect(parseAuthority("a.example", 443)).toEqual({ host: "a.example", port: 443 });
    for (const text of [
      "a.example:",
      "a.example:0",
      "a.example:080",
      "a.example:65536",
      "a.example:+1",
      "u@a.example:1",
    ])
      expect([text, codeOf(() => parseAuthority(text, 443))]).toEqual([text, "ANT_EGRESS_MALFORMED"]);
    for (const text of ["[::1]:443", "a.example:1:2", "[a.example]:1"])
      expect([text, codeOf(() => parseAuthority(text, 443))]).toEqual([text, "ANT_EGRESS_ADDRESS"]);
    expect(codeOf(() => parseAuthority("a.example", null))).toBe("ANT_EGRESS_MALFORMED");
  });

  it("throws only coded refusals, for any text", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80 }),
        (text) => !(codeOf(() => parseAuthority(text, 443)) ?? "").startsWith("not"),
      ),
      { numRuns: 3000 },
    );
  });
});
