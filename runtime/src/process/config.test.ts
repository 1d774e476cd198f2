import { describe, expect, it } from "vitest";
import { readRuntimeConfig } from "./config.ts";

describe("the configuration", () => {
  it("has defaults for a laptop", () => {
    expect(readRuntimeConfig({})).toEqual({
      natsUrl: "nats://127.0.0.1:4222",
      deployment: {},
      natsMonitorUrl: null,
      natsCa: null,
      natsToken: null,
      natsCreds: null,
      trustedKeysFile: null,
      unsafeTrust: false,
      unsafeDurability: false,
      logLevel: "info",
      metricsPort: null,
      metricsHost: "127.0.0.1",
      traces: null,
      drainMs: 25_000,
    });
  });

  it("sends traces to the collector that OpenTelemetry's own variables name, and quotes no token", () => {
    const endpoint = "https://collector.example:4318";
    const variables = {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "x-token=a%20b, b=c",
    };
    expect(readRuntimeConfig(variables).traces).toEqual({ endpoint, headers: { "x-token": "a b", b: "c" } });
    const wrong = { ...variables, OTEL_EXPORTER_OTLP_HEADERS: "geheim" };
    expect(() => readRuntimeConfig(wrong)).toThrow(/OTEL_EXPORTER_OTLP_HEADERS is not a list/);
    expect(() => readRuntimeConfig(wrong)).not.toThrow(/geheim/);
  });

  it("names the variable that is wrong", () => {
    const wrong = [
      { ANTIPHON_NATS_URL: "http://x" },
      { ANTIPHON_UNSAFE_DURABILITY: "maybe" },
      { ANTIPHON_METRICS_PORT: "70000" },
      { ANTIPHON_METRICS_HOST: "everywhere" },
      { ANTIPHON_LOG_LEVEL: "loud" },
      { ANTIPHON_DRAIN_MS: "-1" },
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" },
      { ANTIPHON_ROLE: "ann=approver" },
    ];
    for (const env of wrong) {
      expect(() => readRuntimeConfig(env)).toThrow(
        expect.objectContaining({ code: "ANT_CONFIG_INVALID", data: { variable: Object.keys(env)[0] } }),
      );
    }
  });
});
