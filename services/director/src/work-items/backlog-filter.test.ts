import { describe, expect, it } from "vitest";
import { backlogFilter, selects } from "./backlog-filter.ts";

const ITEM = {
  id: "7",
  title: "Fix the Parser",
  description: "It loops",
  status: "In Progress",
  tags: ["Bug"],
};
const chosen = (text: string, item: Parameters<typeof selects>[1] = ITEM): boolean =>
  selects(backlogFilter(text), item);

describe("the filter of a backlog", () => {
  it("selects by words of id, title, description and tags, whatever their case", () => {
    expect(["", "parser", "LOOPS fix", "7 bug"].map((text) => chosen(text))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(["lexer", "parser lexer"].map((text) => chosen(text))).toEqual([false, false]);
  });

  it("selects by fields", () => {
    const held = { ...ITEM, assignee: "Ada" };
    expect(chosen("status:in-progress assignee:ada tag:bug", held)).toBe(true);
    expect(["status:open", "assignee:bob", "tag:feature"].some((text) => chosen(text, held))).toBe(false);
    expect(chosen("assignee:ada")).toBe(false);
  });

  it("leaves out items that are done, unless a status is named", () => {
    const done = { ...ITEM, status: "Done" };
    expect([chosen("", done), chosen("status:done", done), chosen("status:any", done)]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("reads a colon in a word, and a field without a value, as words", () => {
    expect(backlogFilter("a:b status: ")).toMatchObject({ status: null, words: ["a:b", "status:"] });
  });
});
