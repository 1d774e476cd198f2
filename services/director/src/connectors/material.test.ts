import { limits, validate, type WorkItemDetails } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { materialFiles, materialOf } from "./material.ts";

const AT = new Date("2026-01-02T03:04:05Z");
const ASKED = {
  goal: "daily brief",
  topics: ["Infra"],
  projects: ["/src/app"],
  connectors: ["work-items" as const],
};
const item = (id: string, over: Partial<WorkItemDetails> = {}): WorkItemDetails => ({
  ...{ id, title: `Item ${id}`, description: "", status: "open", tags: [] },
  ...over,
});

describe("what connectors answered", () => {
  it("holds the entries whose title, text or tag has a topic", () => {
    const items = [
      item("1", { title: "INFRA down" }),
      item("2", { description: "about infra" }),
      item("3", { tags: ["infra"] }),
      item("4"),
    ];
    const material = materialOf(ASKED, [{ connector: "work-items", project: "app", items }], AT);
    expect(material.entries.map(({ source }) => source)).toEqual([1, 2, 3].map((n) => `work-items/app#${n}`));
    expect(validate("BriefMaterial", material)).toMatchObject({ ok: true });
    expect(Object.keys(materialFiles(material)).sort()).toEqual(["README.md", "digest.json", "entries.json"]);
  });

  it("is bounded in entries and bytes, and counts what is left out", () => {
    const all = { ...ASKED, topics: [] };
    const many = (count: number, description: string) => ({
      connector: "work-items" as const,
      project: "app",
      items: Array.from({ length: count }, (_, i) => item(String(i), { description })),
    });
    const short = materialOf(all, [many(limits.briefEntries + 5, "")], AT);
    expect([short.entries.length, short.omitted]).toEqual([limits.briefEntries, 5]);
    const long = materialOf(all, [many(500, "x".repeat(9_000))], AT);
    expect(long.entries.length + long.omitted).toBe(500);
    expect(Buffer.byteLength(JSON.stringify(long.entries))).toBeLessThanOrEqual(limits.briefBytes + 1_000);
    expect(validate("BriefMaterial", long)).toMatchObject({ ok: true });
  });

  it("keeps no half of a character", () => {
    const title = `${"x".repeat(1_022)}😀😀`;
    const { entries } = materialOf(
      { ...ASKED, topics: [] },
      [{ connector: "work-items", project: "app", items: [item("1", { title })] }],
      AT,
    );
    expect(entries[0]?.title.isWellFormed()).toBe(true);
  });
});
