import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../job-limits.ts";
import { createWords, labelOf, machineDifferences } from "./microsandbox-command.ts";

/** As msb 0.6.18 printed it for a machine made with `--no-net`, without the fields that are not compared. */
const record = {
  name: "m",
  status: "Stopped",
  config: {
    labels: { "antiphon.owner": "a/b/1/2" },
    mounts: [] as unknown[],
    network: {
      enabled: true,
      policy: { default_egress: "deny", default_ingress: "deny", rules: [] as unknown[] },
      ports: [] as unknown[],
      secrets: { on_violation: "block-and-log", secrets: [] as unknown[] },
    },
  },
};
const network = record.config.network;
const changed = (config: object): unknown => ({ ...record, config: { ...record.config, ...config } });

describe("a machine of microsandbox", () => {
  it("is made without a network, bounded in memory and time, from an image that is already present", () => {
    const order = { imageId: "debian:12", limits: defaultLimits("runc"), labels: { a: "1", empty: "" } };
    const words = createWords("m", order, 60);
    expect(words.join(" ")).toContain("--pull never --no-net");
    expect(words.slice(-3)).toEqual(["--label", "a=1", "debian:12"]);
    expect(words).toContain("60s");
  });

  it("is accepted when its record confirms every setting", () => {
    expect(machineDifferences(record)).toEqual([]);
    expect(machineDifferences(changed({ network: { enabled: false } }))).toEqual([]);
    expect(labelOf(record, "antiphon.owner")).toBe("a/b/1/2");
  });

  it.each<[string, unknown]>([
    [
      "a way out",
      changed({ network: { ...network, policy: { ...network.policy, default_egress: "allow" } } }),
    ],
    [
      "a way in",
      changed({ network: { ...network, policy: { ...network.policy, default_ingress: "allow" } } }),
    ],
    ["a rule", changed({ network: { ...network, policy: { ...network.policy, rules: [{}] } } })],
    ["a port", changed({ network: { ...network, ports: [{}] } })],
    ["a secret", changed({ network: { ...network, secrets: { secrets: [{}] } } })],
    ["a mount", changed({ mounts: [{}] })],
  ])("is refused with %s", (_what, found) => {
    expect(machineDifferences(found)).toHaveLength(1);
  });

  it.each([null, {}, { config: {} }, { config: null }])(
    "is refused when its record confirms nothing: %j",
    (found) => {
      expect(machineDifferences(found).length).toBeGreaterThan(0);
    },
  );
});
