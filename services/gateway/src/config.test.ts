import { describe, expect, it } from "vitest";
import { readGatewayConfig } from "./config.ts";

const SECRET = "sixteen-chars-ok";
const ANN = "a-token-of-her-own";

describe("the gateway's settings", () => {
  it("listen on loopback without anything set", () => {
    expect(readGatewayConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3001,
      token: null,
      people: [],
      directory: { roles: null, tenants: new Map() },
      oidc: null,
      hooks: [],
      allowedHosts: [],
      openRuns: 10_000,
      storeDir: null,
      devcontainer: "fallback",
      adapters: { build: false },
      page: null,
      packFolders: [],
      notices: null,
      sessionKey: null,
    });
  });

  it("know no other build adapter than the sandbox", () => {
    expect(readGatewayConfig({ ANTIPHON_BUILD_ADAPTER: "sandbox" }).adapters.build).toBe(true);
    expect(() => readGatewayConfig({ ANTIPHON_BUILD_ADAPTER: "host" })).toThrow(
      expect.objectContaining({ code: "ANT_CONFIG_INVALID" }),
    );
  });

  it("refuse an impossible number of open runs", () => {
    expect(readGatewayConfig({ ANTIPHON_OPEN_RUNS: "7" }).openRuns).toBe(7);
    expect(() => readGatewayConfig({ ANTIPHON_OPEN_RUNS: "many" })).toThrow(
      expect.objectContaining({ code: "ANT_CONFIG_INVALID" }),
    );
  });

  it("identify people by tokens of their own", () => {
    const people = (tokens: string, token = SECRET) =>
      readGatewayConfig({ ANTIPHON_TOKEN: token, ANTIPHON_TOKENS: tokens }).people;
    expect(people("")).toEqual([]);
    expect(people(`ann:${ANN}, ben:b:${ANN}`)).toEqual([
      { name: "ann", token: ANN },
      { name: "ben", token: `b:${ANN}` },
    ]);
  });

  it.each([
    ["an invalid name", `Ann:${ANN}`, SECRET],
    ["a reserved name", `token:${ANN}`, SECRET],
    ["no token", "ann:", SECRET],
    ["a name twice", `ann:${ANN},ann:b${ANN}`, SECRET],
    ["a token twice", `ann:${ANN},ben:${ANN}`, SECRET],
    ["the deployment's token", `ann:${SECRET}`, SECRET],
    ["people without a token of the deployment", `ann:${ANN}`, ""],
  ])("refuse %s, and repeat no secret", (_what, tokens, token) => {
    const refused = (): unknown => readGatewayConfig({ ANTIPHON_TOKEN: token, ANTIPHON_TOKENS: tokens });
    expect(refused).toThrow(expect.objectContaining({ code: "ANT_CONFIG_INVALID" }));
    for (const secret of [ANN, SECRET])
      expect(refused).not.toThrow(
        expect.objectContaining({ message: expect.stringContaining(secret) as string }),
      );
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

  it("refuse a person's token that is too short", () => {
    const refused = (): unknown =>
      readGatewayConfig({ ANTIPHON_TOKEN: SECRET, ANTIPHON_TOKENS: "ann:short" });
    expect(refused).toThrow(expect.objectContaining({ code: "ANT_GATEWAY_TOKEN_WEAK" }));
  });

  it("refuse a deployment token that is too short, also on loopback", () => {
    for (const token of ["t", "fifteen-chars-x"])
      expect(() => readGatewayConfig({ ANTIPHON_TOKEN: token })).toThrow(
        expect.objectContaining({ code: "ANT_GATEWAY_TOKEN_WEAK" }),
      );
    expect(readGatewayConfig({ ANTIPHON_TOKEN: "" }).token).toBeNull();
  });

  it("refuse a session key that is short, or that callers have", () => {
    const key = "k".repeat(32);
    const read = (ANTIPHON_SESSION_KEY?: string): string | null =>
      readGatewayConfig({
        ANTIPHON_TOKEN: SECRET,
        ANTIPHON_TOKENS: `ann:${key.replace("k", "a")}`,
        ...(ANTIPHON_SESSION_KEY === undefined ? {} : { ANTIPHON_SESSION_KEY }),
      }).sessionKey;
    expect([read(), read(""), read(key)]).toEqual([null, null, key]);
    expect(() => read("short")).toThrow(expect.objectContaining({ code: "ANT_GATEWAY_TOKEN_WEAK" }));
    for (const known of [SECRET, key.replace("k", "a")])
      expect(() => read(known)).toThrow(expect.objectContaining({ code: "ANT_CONFIG_INVALID" }));
  });

  it.each(["3001", "localhost", "127.0.0.1:99999", ""])("accept or refuse %j as an address", (listen) => {
    if (listen === "") expect(readGatewayConfig({ ANTIPHON_LISTEN: listen }).port).toBe(3001);
    else
      expect(() => readGatewayConfig({ ANTIPHON_LISTEN: listen })).toThrow(
        expect.objectContaining({ code: "ANT_CONFIG_INVALID" }),
      );
  });

  it("may allow more host names", () => {
    expect(readGatewayConfig({ ANTIPHON_GATEWAY_HOSTS: "Ant.Example, b" }).allowedHosts).toEqual([
      "ant.example",
      "b",
    ]);
    expect(readGatewayConfig({ ANTIPHON_LISTEN: "[::1]:0" }).host).toBe("::1");
  });
});
