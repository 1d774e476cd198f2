import { describe, expect, it } from "vitest";
import type { Baseline, BaselineEntry } from "./collected.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { ruleFilesOf, select, SurveyReader, type Survey } from "./survey.ts";
import { Untouched } from "./untouched.ts";

const file = (sha256: string): BaselineEntry => ({ kind: "file", mode: "100644", size: 1, sha256 });
const link = (target: string): BaselineEntry => ({ kind: "symlink", target });
const of = (entries: Record<string, BaselineEntry>): Baseline => new Map(Object.entries(entries));
const survey = (changed: string[], missing: string[] = []): Survey => ({
  changed,
  missing: new Set(missing),
});
const nothing = (): boolean => false;

function read(text: string, pieceBytes = text.length): Survey {
  const reader = new SurveyReader(3);
  for (let at = 0; at < text.length; at += pieceBytes)
    reader.push(Buffer.from(text.slice(at, at + pieceBytes)));
  return reader.result();
}

describe("a supervisor's list of changes", () => {
  it("is read alike wherever the stream is cut, and refused when it stops early or is too long", () => {
    const said = survey(["a", "b/c"], ["d"]);
    expect(read("+a\0-d\0+b/c\0")).toEqual(said);
    expect(read("+a\0-d\0+b/c\0", 1)).toEqual(said);
    expect(() => read("+a\0+b")).toThrow("tar-truncated");
    expect(() => read("+a\0+b\0+c\0+d\0")).toThrow("too-many-entries");
    expect(() => read(`+${"a".repeat(70_000)}`, 1000)).toThrow("path-length");
  });
});

describe("the selection of paths to take out", () => {
  const baseline = of({ same: file("1"), over: file("2"), gone: file("3"), link: link("same") });
  const remembered = of({
    same: file("1"),
    over: file("1"),
    gone: file("3"),
    link: link("same"),
    old: file("4"),
  });

  const selected = (said: Survey, ignores = nothing, maxFiles = 9, from: Baseline = remembered) =>
    select(said, baseline, new Untouched(baseline, from, said), ignores, maxFiles);

  it("is the changed paths, the new ones, and those that the job had put over the tree", () => {
    const said = survey(["new"], ["gone"]);
    expect(selected(said)).toEqual(["new", "over", "old"]);
    const untouched = new Untouched(baseline, remembered, said);
    expect([...baseline.keys()].filter((path) => untouched.has(path))).toEqual(["same", "link"]);
    expect([...untouched.suspects()]).toEqual(["over", "gone"]);
  });

  it("is every path when nothing is remembered", () => {
    const all = [...baseline.keys()];
    expect(selected(survey(all), nothing, 9, new Map())).toEqual(all);
  });

  it("leaves out ignored paths, unless they were there before", () => {
    const wanted = selected(survey(["same", "new"]), () => true);
    expect(wanted).toContain("same");
    expect(wanted).not.toContain("new");
  });

  it("is refused before it is sent when it is too large or a name breaks a rule", () => {
    expect(() => selected(survey(["a", "b"]), nothing, 1)).toThrow("too-many-files");
    expect(() => selected(survey(["a\nb"]))).toThrow("path-control");
  });

  it("begins with the existing rule files, without those of by-products", () => {
    const rules = of({ ".gitignore": file("1"), "a/.gitignore": file("1"), "b/.gitignore": file("1") });
    const now = survey(["c/.gitignore", "node_modules/x/.gitignore"], ["b/.gitignore"]);
    const files = ruleFilesOf(now, rules, new IgnoreRules([], ["node_modules/"]));
    expect(files).toEqual([".gitignore", "a/.gitignore", "c/.gitignore"]);
  });
});
