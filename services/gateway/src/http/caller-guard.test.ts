import { describe, expect, it } from "vitest";
import { judgeCaller } from "./caller-guard.ts";
import type { CallerHeaders, GuardPolicy } from "./caller-guard.ts";

const OPEN: GuardPolicy = { allowedHosts: ["ant.example"], token: null };
const CLOSED: GuardPolicy = { ...OPEN, token: "s3cret" };
const CURL: CallerHeaders = {
  host: "127.0.0.1:3001",
  origin: undefined,
  secFetchSite: undefined,
  authorization: undefined,
};

const code = (headers: Partial<CallerHeaders>, policy = OPEN): string => {
  const verdict = judgeCaller({ ...CURL, ...headers }, policy);
  if (verdict.kind === "refuse") return verdict.code;
  return verdict.kind === "pass" ? verdict.principal : `session ${verdict.token}`;
};

describe("the caller guard", () => {
  it.each(["127.0.0.1:3001", "localhost", "LOCALHOST:80", "[::1]:3001", "127.9.9.9", "ant.example"])(
    "accepts %s as a host",
    (host) => {
      expect(code({ host })).toBe("local");
    },
  );

  it.each([
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:3001",
    "",
    "a b",
    undefined,
    "127.0.0.1@evil.example",
    "[::ffff:1.2.3.4]",
  ])("refuses the host %s: a name rebound to loopback is not ours", (host) => {
    expect(code({ host })).toBe("ANT_GATEWAY_HOST");
  });

  it("accepts only pages of the gateway itself", () => {
    expect(code({ origin: "http://127.0.0.1:3001" })).toBe("local");
    expect(code({ origin: "http://127.0.0.1:3002" })).toBe("ANT_GATEWAY_ORIGIN");
    expect(code({ origin: "null" })).toBe("ANT_GATEWAY_ORIGIN");
    expect(code({ origin: "http://evil.example" })).toBe("ANT_GATEWAY_ORIGIN");
  });

  it("refuses a call that the browser marks as cross-site", () => {
    expect(code({ secFetchSite: "cross-site" })).toBe("ANT_GATEWAY_ORIGIN");
    expect(code({ secFetchSite: "same-site" })).toBe("ANT_GATEWAY_ORIGIN");
    expect(code({ secFetchSite: "same-origin" })).toBe("local");
    expect(code({ secFetchSite: "none" })).toBe("local");
  });

  it("requires the right token if one is configured", () => {
    expect(code({}, CLOSED)).toBe("ANT_GATEWAY_TOKEN_REQUIRED");
    expect(code({ authorization: "Bearer s3cre" }, CLOSED)).toBe("ANT_GATEWAY_TOKEN_REQUIRED");
    expect(code({ authorization: "Basic s3cret" }, CLOSED)).toBe("ANT_GATEWAY_TOKEN_REQUIRED");
    expect(code({ authorization: "Bearer s3cret" }, CLOSED)).toBe("token");
  });

  it("identifies people by tokens of their own, besides the shared token", () => {
    const people = [
      { name: "ann", token: "a1" },
      { name: "ben", token: "b1" },
    ];
    const as = (token: string) => code({ authorization: `Bearer ${token}` }, { ...CLOSED, people });
    expect([as("a1"), as("b1"), as("s3cret"), as("c1")]).toEqual([
      "ann",
      "ben",
      "token",
      "ANT_GATEWAY_TOKEN_REQUIRED",
    ]);
  });

  it("passes a session token on for verification, with or without a deployment token", () => {
    for (const policy of [OPEN, CLOSED])
      expect(code({ authorization: "Bearer eyJh.eyJz.c2ln" }, policy)).toBe("session eyJh.eyJz.c2ln");
    expect(code({ authorization: "Bearer eyJh.eyJz.c2ln", origin: "http://evil.example" })).toBe(
      "ANT_GATEWAY_ORIGIN",
    );
  });
});
