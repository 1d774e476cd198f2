import { describe, expect, it } from "vitest";
import { machineDifferences, type MachineFacts } from "./e2b-machine.ts";

const order = { templateId: "t1", metadata: { instance: "a" } };
const good: MachineFacts = {
  templateId: "t1",
  allowInternetAccess: false,
  metadata: { instance: "a", more: "of the service's own" },
  network: { allowOut: [] },
  lifecycle: { onTimeout: "kill", autoResume: false },
  volumeMounts: [],
};

describe("a machine of an E2B service", () => {
  it("is accepted when the service confirms every setting", () => {
    expect(machineDifferences(order, good)).toEqual([]);
    expect(machineDifferences({ ...order, templateId: null }, { ...good, templateId: "any" })).toEqual([]);
  });

  it.each<[string, Partial<MachineFacts>]>([
    ["internet access", { allowInternetAccess: true }],
    ["no statement about internet access", { allowInternetAccess: undefined }],
    ["an allowed host", { network: { allowOut: ["example.com"] } }],
    ["a rule", { network: { rules: { "example.com": [] } } }],
    ["a proxy", { network: { egressProxy: { address: "192.0.2.1:1080" } } }],
    ["a volume", { volumeMounts: [{ name: "v", path: "/v" }] }],
    ["a pause at its timeout", { lifecycle: { onTimeout: "pause", autoResume: false } }],
    ["automatic resumption", { lifecycle: { onTimeout: "kill", autoResume: true } }],
    ["another template", { templateId: "t2" }],
    ["metadata of another instance", { metadata: { instance: "b" } }],
  ])("is refused with %s", (_what, change) => {
    expect(machineDifferences(order, { ...good, ...change })).toHaveLength(1);
  });
});
