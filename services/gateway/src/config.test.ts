import { describe, expect, it } from "vitest";
import { readGatewayConfig } from "./config.ts";

describe("the gateway's settings", () => {
  it("listen on loopback without anything set", () => {
    expect(readGatewayConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3001,
      token: null,
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

  it.each(["0.0.0.0:3001", "192.168.1.7:80", "[::]:3001", "gateway:3001"])(
    "refuse %s without a token",
    (listen) => {
      expect(() => readGatewayConfig({ ANTIPHON_LISTEN: listen })).toThrow(
        expect.objectContaining({ code: "ANT_GATEWAY_UNSAFE_BIND" }),
      );
      expect(readGatewayConfig({ ANTIPHON_LISTEN: listen, ANTIPHON_TOKEN: "t" }).token).toBe("t");
    },
  );

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
