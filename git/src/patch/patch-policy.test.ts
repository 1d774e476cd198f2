import { describe, expect, it } from "vitest";
import { checkPatch } from "./patch-policy.ts";
import type { Guard } from "../protection/guard.ts";
import { binaryDiff } from "../../../test/support/hostile-binaries.ts";
import {
  diffsOutOfScope,
  HOSTILE_GUARDS,
  hostileDiffs,
  PLACES,
} from "../../../test/support/hostile-diffs.ts";

const hostile = hostileDiffs();
const places = (...globs: string[]): Guard[] =>
  globs.map((glob) => ({ rule: "protected.place", glob, why: "it judges" }));
const make = (place: string, path: string, mode?: string): string => PLACES[place]?.(path, mode) ?? "";

describe("hostile diffs", () => {
  it.each(hostile.map((entry) => [entry.name, entry] as const))("git/G4: refuses %s", (_name, entry) => {
    const verdict = checkPatch(entry.diff, { guards: HOSTILE_GUARDS });
    expect(verdict.ok ? "accepted" : verdict.code).toBeOneOf([...entry.codes]);
    if (verdict.ok) return;
    expect(verdict.rule).toMatch(/^[a-z]+\.[a-z0-9-]+$/);
    expect(verdict.message).not.toBe("");
  });

  it("number at least three hundred, and every code of the policy refuses some", () => {
    const counts = new Map<string, number>();
    for (const { diff } of [...hostile, ...diffsOutOfScope()]) {
      const guarded = checkPatch(diff, { guards: HOSTILE_GUARDS });
      const verdict = guarded.ok ? checkPatch(diff, { scope: ["src/**", "app.js", "new.js"] }) : guarded;
      if (!verdict.ok) counts.set(verdict.code, (counts.get(verdict.code) ?? 0) + 1);
    }
    console.log(
      `${hostile.length} hostile diffs refused: ${[...counts].map(([c, n]) => `${c} ${n}`).join(", ")}`,
    );
    expect(hostile.length).toBeGreaterThanOrEqual(300);
    expect([...counts.keys()].sort()).toEqual([
      "ANT_PATCH_BINARY",
      "ANT_PATCH_DUPLICATE",
      "ANT_PATCH_GITLINK",
      "ANT_PATCH_HEADER",
      "ANT_PATCH_MALFORMED",
      "ANT_PATCH_MODE",
      "ANT_PATCH_NAME",
      "ANT_PATCH_PATH",
      "ANT_PATCH_PROTECTED",
      "ANT_PATCH_SCOPE",
      "ANT_PATCH_SYMLINK",
      "ANT_PATCH_TOO_LARGE",
      "ANT_PATCH_TRUNCATED",
    ]);
  });

  it.each(diffsOutOfScope().map((entry) => [entry.name, entry] as const))("refuses %s", (_name, entry) => {
    expect(checkPatch(entry.diff, { scope: ["src/**", "app.js", "new.js"] })).toMatchObject({
      ok: false,
      code: "ANT_PATCH_SCOPE",
    });
  });

  it("refuses a good diff cut off anywhere but between files", () => {
    const files = [
      make("modify", "app.js"),
      binaryDiff("literal", 5, Buffer.from("bytes")),
      make("add", "new.js"),
    ];
    const whole = files.join("");
    const borders = [0, ...files.map((_, index) => files.slice(0, index + 1).join("").length)];
    let refused = 0;
    for (let length = 0; length <= whole.length; length += 1) {
      const verdict = checkPatch(whole.slice(0, length));
      // The second half of a binary change is only used to undo it.
      const withoutReverse = whole.slice(0, length).endsWith("\n\n");
      if (borders.includes(length) || withoutReverse) continue;
      expect(verdict.ok, JSON.stringify(whole.slice(0, length).slice(-60))).toBe(false);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(500);
  });
});

describe("good diffs", () => {
  it.each([
    ["an addition", make("add", "new.js"), { path: "new.js", change: "add", mode: "100644", added: 1 }],
    ["an executable", make("add", "run.sh", "100755"), { path: "run.sh", change: "add", mode: "100755" }],
    ["an empty file", make("add empty", "empty"), { path: "empty", change: "add", added: 0 }],
    ["a change", make("modify", "app.js"), { path: "app.js", change: "modify", added: 1, removed: 1 }],
    ["a deletion", make("delete", "app.js"), { path: "app.js", change: "delete", mode: null }],
    ["a mode change", make("chmod", "app.js"), { path: "app.js", change: "modify", mode: "100755" }],
    ["a rename", make("rename to", "new.js"), { path: "new.js", change: "rename", from: "app.js" }],
    ["a copy", make("copy to", "new.js"), { path: "new.js", change: "copy", from: "app.js" }],
    ["a name with spaces", make("modify", "my file.js"), { path: "my file.js" }],
    ["a name in Greek", make("add", "αντίφωνο.txt"), { path: "αντίφωνο.txt" }],
    ["an emoji that has a variation", make("modify", "❤️.md"), { path: "❤️.md" }],
    ["an emoji of several joined", make("add", "docs/👩🏽‍💻 👨‍👩‍👧.txt"), { path: "docs/👩🏽‍💻 👨‍👩‍👧.txt" }],
    ["a keycap", make("add", "1️⃣.txt"), { path: "1️⃣.txt" }],
    ["a Persian name with its joiner", make("add", "می\u200cخواهم.txt"), { path: "می\u200cخواهم.txt" }],
    ["a name with quotes", make("modify", 'say "hi".js'), { path: 'say "hi".js' }],
    [
      "a rename whose names look like others",
      "diff --git a/a b/c b/d\nsimilarity index 100%\nrename from a\nrename to c b/d\n",
      { path: "c b/d", from: "a" },
    ],
    ["a name that looks like two names", make("modify", "x b/x"), { path: "x b/x" }],
    ["a binary file", binaryDiff("literal", 5, Buffer.from("bytes")), { binary: true, change: "add" }],
    [
      "a hunk heading that holds a carriage return",
      make("modify", "app.js").replace("@@\n", "@@ a\rb\n"),
      { path: "app.js" },
    ],
    ["a case-only rename", make("rename to", "App.js"), { path: "App.js", from: "app.js" }],
    [".gitignore", make("modify", ".gitignore"), { path: ".gitignore" }],
    ["a hidden directory that is not .git", make("add", ".gitx/y"), { path: ".gitx/y" }],
  ])("accepts %s", (_name, diff, expected) => {
    const verdict = checkPatch(diff);
    expect(verdict).toMatchObject({ ok: true, files: [expected] });
  });

  it("accepts a change of two files that differ in case only, and a new spelling of a deleted one", () => {
    expect(checkPatch(make("modify", "xt_TCP.h") + make("modify", "xt_tcp.h")).ok).toBe(true);
    expect(checkPatch(make("delete", "Readme") + make("add", "README")).ok).toBe(true);
  });

  it("refuses joiners and variations outside a visible character, and paths that differ only in them", () => {
    for (const name of ["a\u200db.js", "pass\ufe0fword", "\u200c.js", "❤️\ufe0f.md"])
      expect(checkPatch(make("add", name))).toMatchObject({ code: "ANT_PATCH_NAME" });
    expect(checkPatch(make("add", "❤️.md") + make("add", "❤.md"))).toMatchObject({
      code: "ANT_PATCH_DUPLICATE",
    });
  });

  it("accepts an empty diff as no change", () => {
    expect(checkPatch("")).toEqual({ ok: true, files: [], unproven: [] });
  });

  it("git/G4: a grant opens a protected path and no other", () => {
    const rules = { guards: places("test/**", ".github/**"), grants: ["test/app.*"] };
    expect(checkPatch(make("modify", "test/app.test.js"), rules).ok).toBe(true);
    expect(checkPatch(make("modify", "test/other.test.js"), rules)).toMatchObject({
      code: "ANT_PATCH_PROTECTED",
    });
    expect(checkPatch(make("modify", ".github/x"), rules)).toMatchObject({
      code: "ANT_PATCH_PROTECTED",
      line: 1,
    });
  });

  it("git/G4: a protected path is protected in any case and any Unicode form", () => {
    const rules = { guards: places("Test/Ünit.js", "**/package.json") };
    for (const path of ["test/ünit.js", "TEST/U\u0308NIT.JS", "PACKAGE.json"]) {
      expect(checkPatch(make("modify", path), rules)).toMatchObject({ code: "ANT_PATCH_PROTECTED" });
    }
  });

  it("git/G4: a guard that yields to proof lets its path pass and names it; a guard that does not yield takes precedence", () => {
    const subject: Guard = {
      rule: "protected.subject",
      glob: "app.js",
      why: "the check runs it",
      unless: "proof",
    };
    const open = checkPatch(make("modify", "app.js"), { guards: [subject] });
    expect(open).toMatchObject({ ok: true, unproven: [{ path: "app.js", why: "the check runs it" }] });
    expect(checkPatch(make("modify", "app.js"), { guards: [subject], grants: ["app.js"] })).toMatchObject({
      unproven: [],
    });
    expect(checkPatch(make("modify", "app.js"), { guards: [subject, ...places("app.js")] })).toMatchObject({
      ok: false,
      rule: "protected.place",
      message: "protected: it judges",
    });
  });

  it("git/G4: a refusal names each protected path, and counts those beyond five", () => {
    const guards = places("t/**");
    const patch = (...paths: string[]): string => paths.map((path) => make("modify", path)).join("");
    expect(checkPatch(patch("t/a", "src/b", "t/c"), { guards })).toMatchObject({
      code: "ANT_PATCH_PROTECTED",
      path: "t/a",
      message: "protected: it judges; t/c: protected: it judges",
    });
    expect(checkPatch(patch("t/a", "t/c"), { guards, grants: ["t/a"] })).toMatchObject({ path: "t/c" });
    const many = checkPatch(patch("t/1", "t/2", "t/3", "t/4", "t/5", "t/6", "t/7"), { guards });
    expect(many).toMatchObject({ message: expect.stringMatching(/; t\/5: .*; and 2 more$/) as unknown });
  });

  it("git/G4: the last of very many guards closes its place as the first does", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `goal-${i}/**`);
    const guards = places(...many, "**/.npmrc");
    expect(checkPatch(make("add", "app/.npmrc"), { guards })).toMatchObject({ code: "ANT_PATCH_PROTECTED" });
  });

  it("a guard against code lets a new empty file pass", () => {
    const guards: Guard[] = [
      { rule: "protected.shadow", glob: "empty", why: "it would run", unless: "empty" },
    ];
    expect(checkPatch(make("add empty", "empty"), { guards }).ok).toBe(true);
    expect(checkPatch(make("add", "empty"), { guards })).toMatchObject({ code: "ANT_PATCH_PROTECTED" });
  });

  it("names the line of the file it refuses", () => {
    const patch = make("modify", "app.js") + make("add", ".git/x");
    expect(checkPatch(patch)).toMatchObject({ ok: false, path: ".git/x", rule: "path.dot-git", line: 8 });
  });
});
