import type { Gate, PolicyBounds, Proves, RiskClass } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { approvalNeed } from "./approval-need.ts";

const file = (path: string, lines = 1, from: string | null = null) => ({
  ...{ path, from, added: lines, removed: 0 },
  change: from === null ? ("modify" as const) : ("rename" as const),
});
const bounds = (more: Partial<PolicyBounds>): PolicyBounds => ({ profiles: ["p"], ...more });
const need = (more: Partial<PolicyBounds>, files = [file("docs/a.md")], proves: Proves = "regression") =>
  approvalNeed({ files, proves }, bounds(more), undefined);
const outside = (risk: RiskClass, files = [file("docs/a.md")], proves?: Proves) =>
  need({ auto_land: [risk] }, files, proves)?.reasons[0] ?? null;
const behind = (gate: Partial<Gate>, ...files: ReturnType<typeof file>[]) =>
  need({ gates: [{ name: "g", ...gate }] }, files)?.needed ?? 0;

describe("a change that passed", () => {
  it("lands by itself if neither its plan nor a policy says anything", () => {
    expect(approvalNeed({ files: [file("a")], proves: "nothing" }, undefined, undefined)).toBeNull();
    expect(need({})).toBeNull();
  });

  it.each<[string, RiskClass]>([
    ["more files than its class has", { maxFiles: 0 }],
    ["more lines than its class has", { maxLines: 0 }],
    ["a file outside the paths of its class", { paths: ["src/**"] }],
    ["a weaker proof than its class has", { proof: "fail-to-pass" }],
  ])("waits for a person with %s, and says so with policy and rule", (_title, risk) => {
    expect(outside(risk)).toMatch(/\(policy p, rule autoLand\)$/);
  });

  it("lands by itself if all conditions of its class hold", () => {
    expect(outside({ maxFiles: 1, maxLines: 1, paths: ["docs/**"], proof: "regression" })).toBeNull();
    expect(outside({ proof: "regression" }, undefined, "fail-to-pass")).toBeNull();
  });

  it("has to be in the class of every profile that applies", () => {
    expect(need({ auto_land: [{ maxFiles: 5 }, { maxLines: 0 }] })?.needed).toBe(1);
  });

  it("leaves a path by a rename, whatever the case of its name", () => {
    expect(outside({ paths: ["docs/**"] }, [file("docs/b.md", 0, "src/b.ts")])).toContain("src/b.ts");
    expect(behind({ paths: ["db/**"] }, file("tmp/x.sql", 0, "DB/x.sql"))).toBe(1);
  });

  it("waits for the people of each gate that it touches; the most count", () => {
    expect(behind({ paths: ["db/**"], needed: 2 }, file("src/a.ts"))).toBe(0);
    expect(behind({ paths: ["db/**"], needed: 2 }, file("src/a.ts"), file("db/schema.sql"))).toBe(2);
    expect(behind({ needed: 3 }, file("anything"))).toBe(3);
    const gates = [{ name: "one" }, { name: "two", needed: 2 }];
    expect(need({ gates, auto_land: [{ maxFiles: 0 }] })).toEqual({
      needed: 2,
      reasons: [
        "1 files, at most 0 land without people (policy p, rule autoLand)",
        "every change needs people (policy p, gate one)",
        "every change needs people (policy p, gate two)",
      ],
    });
  });

  it("waits for the people that its plan asks", () => {
    const change = { files: [file("a")], proves: "regression" as const };
    expect(approvalNeed(change, undefined, { needed: 2 })?.needed).toBe(2);
  });
});
