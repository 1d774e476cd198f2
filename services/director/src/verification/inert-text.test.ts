import { describe, expect, it } from "vitest";
import { inertText } from "./inert-text.ts";

describe("an agent's text in a commit message", () => {
  it.each([
    ["closes no issue", "Fixes #12", "Fixes no. 12"],
    ["closes none of a list", "Closes #1, #2 and #3.", "Closes no. 1, no. 2 and no. 3."],
    ["closes no issue of another repository", "resolves o/r#12", "resolves o/r no. 12"],
    ["closes no issue of Azure", "Fixes AB#12", "Fixes AB no. 12"],
    ["closes no issue by its short name", "fixes GH-12, gh-13", "fixes GH 12, GH 13"],
    [
      "closes no issue by its address",
      "Closes https://example.org/o/r/-/issues/7 and https://example.org/o/r/pull/8",
      "Closes https://example.org/o/r/-/issues no. 7 and https://example.org/o/r/pull no. 8",
    ],
    ["moves no issue of a tracker", "ABC-12 #close #comment done", "ABC-12 # close # comment done"],
    ["closes no issue by its key", "Resolves ABC-12", "Resolves ABC 12"],
    ["mentions nobody", "Thanks @ann and @org/team.", "Thanks @ ann and @ org/team."],
    ["mentions nobody in brackets", "(@ann) *@ben* _@cleo", "(@ ann) *@ ben* _@ cleo"],
    [
      "gives no command",
      "Done\n/close\n  /assign @ann\n/label ~bug",
      "Done\n> /close\n>   /assign @ ann\n> /label ~bug",
    ],
    ["gives no command after a carriage return", "Done\r\n/close\r\n", "Done\r\n> /close\r\n"],
    ["writes no character of HTML", "fixes &#35;1", "fixes &no. 35;1"],
  ])("%s: %j", (_what, text, expected) => {
    expect(inertText(text)).toBe(expected);
    expect(inertText(expected)).toBe(expected);
  });

  it.each([
    "Mail ann@example.org about SHA-256 and UTF-8.",
    "Moved /usr/bin/env to src/[id].ts; see docs/issues/readme.md",
    "# Heading\n\n- C# and F# build; a && b",
    "/usr/bin/env is used",
  ])("stays as it is where nothing acts: %j", (text) => {
    expect(inertText(text)).toBe(text);
  });
});
