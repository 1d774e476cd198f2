import type { CheckedFile } from "@antiphon/git";
import { expect, test } from "vitest";
import { approvalNeed } from "./approval-need.ts";
import { measured } from "./measured.ts";
import { breachOf } from "./policy-bounds.ts";

const file = (path: string, more: Partial<CheckedFile> = {}): CheckedFile => ({
  ...{ path, from: null, change: "modify", mode: null, added: 0, removed: 0, binary: true },
  ...more,
});
const after = new Map([["src/a.js", "a\0\nb\nc"]]);
const before = new Map([["src/a.js", "x\ny\n"]]);

test("director/D10: the lines of a source count although one byte makes it binary, or it is a copy", () => {
  const [source] = measured([file("src/a.js")], after, before);
  expect(source).toMatchObject({ added: 3, removed: 2 });
  const bounds = { profiles: ["strict"], max_lines: 4, auto_land: [{ maxLines: 4 }] };
  expect(breachOf([file("src/a.js")], bounds)).toBeNull();
  expect(breachOf(measured([file("src/a.js")], after, before), bounds)).toContain("5 lines, at most 4");
  const files = measured([file("src/a.js")], after, before);
  expect(approvalNeed({ files, proves: "regression" }, bounds, undefined)?.needed).toBe(1);
  const copy = file("src/a.js", { change: "copy", from: "src/b.js", binary: false });
  expect(measured([copy], after, before)).toMatchObject([{ added: 3, removed: 0 }]);
});

test("director/D10: a picture has no lines, and what the patch counts stays", () => {
  const picture = file("docs/a.png");
  const text = file("src/b.js", { binary: false, added: 7, removed: 1 });
  expect(measured([picture, text], new Map([["docs/a.png", "\n\n"]]), before)).toEqual([picture, text]);
});
