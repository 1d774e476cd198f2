import { describe, expect, test } from "vitest";
import { CueList } from "./cue-list.ts";
import { fold } from "./reading.ts";

const found = (words: string, text: string): string[] => {
  const folded = ` ${fold(text)} `;
  return new CueList([{ name: "x", words }]).find(folded).map(({ at, end }) => folded.slice(at, end));
};

describe("CueList", () => {
  test("finds whole words and phrases, not parts of words", () => {
    expect(found("bug|not working", "A debugger bug, bugs; it is not working.")).toEqual([
      "bug",
      "not working",
    ]);
  });

  test("an entry with an asterisk accepts any ending, not any beginning", () => {
    expect(found("crash*", "crashes, uncrashed")).toEqual(["crash"]);
  });

  test("of two phrases at one place the longer counts, once", () => {
    expect(found("not|not working", "not working")).toEqual(["not working"]);
  });

  test("phrases of scripts without spaces are found anywhere", () => {
    expect(found("修复", "请修复登录")).toEqual(["修复"]);
    expect(found("고쳐", "버그를 고쳐주세요")).toEqual(["고쳐"]);
  });

  test("accents and case do not matter", () => {
    expect(found("Störung*", "STORUNGEN")).toEqual(["storung"]);
  });
});
