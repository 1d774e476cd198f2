import { describe, expect, it } from "vitest";
import { SKILLS } from "../seeds/skill-result.ts";
import { validate } from "../validation/validate.ts";
import { validateSkillResult } from "../validation/skill-check.ts";
import type { BriefEntry, BriefMaterial } from "./brief.ts";
import { briefMarkdown, briefOutputOf, briefResult, briefSentence, plainBrief } from "./briefing.ts";

const entry = (id: string, over: Partial<BriefEntry> = {}): BriefEntry => ({
  source: `work-items/app#${id}`,
  connector: "work-items",
  project: "app",
  id,
  title: `Item ${id}`,
  status: "open",
  tags: [],
  text: "",
  ...over,
});
const MATERIAL: BriefMaterial = {
  v: 1,
  goal: "daily brief",
  topics: ["infra"],
  projects: ["/src/app"],
  connectors: ["work-items", "pull-requests"],
  readAt: "2026-01-02T03:04:05.000Z",
  entries: [entry("1", { assignee: "ada" }), entry("2")],
  omitted: 3,
};

describe("a brief", () => {
  it("takes title and state from the connector, and drops what no connector answered", () => {
    const output = briefOutputOf(
      {
        summary: "One is urgent",
        entries: [
          { source: "work-items/app#2", note: "today" },
          { source: "work-items/app#9" },
          { source: "work-items/app#2" },
        ],
      },
      MATERIAL,
    );
    expect(output).toEqual({
      summary: "One is urgent",
      entries: [
        { source: "work-items/app#2", project: "app", title: "Item 2", status: "open", note: "today" },
      ],
      dropped: ["work-items/app#9"],
    });
    expect(briefSentence(output)).toBe("a brief of 1 entry; 1 dropped that no connector answered");
    const result = briefResult(output, MATERIAL, { runId: "run_1", taskId: "T-001", commit: "a".repeat(40) });
    expect(validateSkillResult(result, SKILLS.brief)).toMatchObject({ ok: true });
  });

  it("without an agent lists every entry and says how many are left out", () => {
    const brief = plainBrief(MATERIAL);
    expect(validate("Brief", brief)).toMatchObject({ ok: true });
    expect(brief).toEqual({
      summary: "2 work items and 0 pull requests in 1 project about infra; 3 more are left out",
      entries: [{ source: "work-items/app#1" }, { source: "work-items/app#2" }],
    });
  });

  it("for people holds no markup of the texts that it quotes", () => {
    const hostile = { ...MATERIAL, entries: [entry("1", { title: "[x](http://evil)\n# Now" })] };
    const output = briefOutputOf(
      { summary: "<b>hi</b>", entries: [{ source: "work-items/app#1" }] },
      hostile,
    );
    expect(briefMarkdown(output, hostile)).toBe(
      [
        "# daily brief",
        "\\<b\\>hi\\</b\\>",
        "Read at 2026-01-02T03:04:05.000Z.",
        "## app",
        "- work-items/app\\#1 **\\[x\\](http://evil) \\# Now** (open)\n",
      ].join("\n\n"),
    );
  });
});
