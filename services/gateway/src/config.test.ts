import { describe, expect, it } from "vitest";
import { readGatewayConfig } from "./config.ts";

const SECRET = "sixteen-chars-ok";

describe("the gateway's settings", () => {
  it("listen on loopback without anything set", () => {
    expect(readGatewayConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3001,
      token: null,
      people: [],
      allowedHosts: [],
      openRuns: 10_000,
      devcontainer: "fallback",
    });
  });

  it("name a number of open runs that cannot be", () => {
    expect(readGatewayConfig({ ANTIPHON_OPEN_RUNS: "7" }).openRuns).toBe(7);
    expect(() => readGatewayConfig({ ANTIPHON_OPEN_RUNS: "many" })).toThrow(
      expect.objectContaining({ code: "ANT_CONFIG_INVALID" }),
    );
  });

  it("know people by tokens of their own", () => {
    const people = (tokens: string, token = "s3cret") =>
      readGatewayConfig({ ANTIPHON_TOKEN: token, ANTIPHON_TOKENS: tokens }).people;
    expect(people("")).toEqual([]);
    expect(people("ann:a1, ben:b:1")).toEqual([
      { name: "ann", token: "a1" },
      { name: "ben", token: "b:1" },
    ]);
  });

  it.each([
    ["a name that is no name", "Ann:a1", "s3cret"],
    ["a name that stands for everybody", "token:a1", "s3cret"],
    ["no token", "ann:", "s3cret"],
    ["a name twice", "ann:a1,ann:a2", "s3cret"],
    ["a token twice", "ann:a1,ben:a1", "s3cret"],
    ["the deployment's token", "ann:s3cret", "s3cret"],
    ["people without a token of the deployment", "ann:a1", ""],
  ])("refuse %s, and repeat no secret", (_what, tokens, token) => {
    const refused = (): unknown => readGatewayConfig({ ANTIPHON_TOKEN: token, ANTIPHON_TOKENS: tokens });
    expect(refused).toThrow(expect.objectContaining({ code: "ANT_CONFIG_INVALID" }));
    expect(refused).not.toThrow(/a1|s3cret/);
  });

  it.each(["0.0.0.0:3001", "192.168.1.7:80", "[::]:3001", "gateway:3001"])(
    "refuse %s without a token",
    (listen) => {
      expect(() => readGatewayConfig({ ANTIPHON_LISTEN: listen })).toThrow(
        expect.objectContaining({ code: "ANT_GATEWAY_UNSAFE_BIND" }),
      );
      expect(readGatewayConfig({ ANTIPHON_LISTEN: listen, ANTIPHON_TOKEN: SECRET }).token).toBe(SECRET);
    },
  );

  it("refuse a token that can be guessed, wherever it listens", () => {
    for (const token of ["t", "fifteen-chars-x"])
      expect(() => readGatewayConfig({ ANTIPHON_TOKEN: token })).toThrow(
        expect.objectContaining({ code: "ANT_GATEWAY_TOKEN_WEAK" }),
      );
    expect(readGatewayConfig({ ANTIPHON_TOKEN: "" }).token).toBeNull();
  });

  it.each(["3001", "localhost", "127.0.0.1:99999", ""])("treat %j as what it is", (listen) => {
    if (listen === "") expect(readGatewayConfig({ ANTIPHON_LISTEN: listen }).port).toBe(3001);
    else
      expect(() => readGatewayConfig({ ANTIPHON_LISTEN: listen })).toThrow(
        expect.objectContaining({ code: "ANT_CONFIG_INVALID" }),
      );
  });

  it("may allow more names", () => {
    expect(readGatewayConfig({ ANTIPHON_GATEWAY_HOSTS: "Ant.Example, b" }).allowedHosts).toEqual([
      "ant.example",
      "b",
    ]);
    expect(readGatewayConfig({ ANTIPHON_LISTEN: "[::1]:0" }).host).toBe("::1");
  });
});
