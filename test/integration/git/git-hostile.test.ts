/** Hostile diffs against real git: the policy's refusals, and what git does with unchecked diffs. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { AntiphonError } from "@antiphon/contracts";
import { applyPatch, checkPatch, diffOverlay, treeOf } from "@antiphon/git";
import { HOSTILE_BASE, hostileDiffs, PLACES } from "../../support/hostile-diffs.ts";
import { sized } from "../../support/night.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos, makeRepo, type TestRepo } from "../../support/repo.ts";

const DIFFS = sized(250, 1000);

afterEach(() => cleanUpRepos());

const LINKED = { ...HOSTILE_BASE, link: { link: "/etc" }, "file-link": { link: "app.js" } };

function snapshot(repo: TestRepo): string {
  const objects = repo.git("count-objects", "-v");
  const files = readdirSync(repo.path).sort().join(" ");
  return [
    objects,
    files,
    repo.git("for-each-ref"),
    readFileSync(join(repo.path, ".git", "index")).toString("hex"),
  ].join("\n");
}

describe("applyPatch", () => {
  it(
    "git/G4: applying an unchecked hostile diff makes only regular files inside the tree, and nothing in the repository",
    { timeout: patient(300_000) },
    async () => {
      const repo = makeRepo({ files: LINKED });
      const before = snapshot(repo);
      const counts = new Map<string, number>();
      // A part of them, because each costs five processes; the unit test covers all.
      const tried = hostileDiffs().filter((_, index) => index % sized(8, 4) === 0);
      for (const { name, diff } of tried) {
        try {
          const made = await applyPatch(repo.path, repo.head, diff);
          const paths = [...made.overlay.map((file) => file.path), ...made.deletions];
          expect(
            paths.every((path) => !/(^|\/)(\.\.?|\.git)(\/|$)|^\//i.test(path)),
            name,
          ).toBe(true);
          counts.set("applied", (counts.get("applied") ?? 0) + 1);
        } catch (thrown) {
          const { code } = AntiphonError.from(thrown);
          expect(code, name).toMatch(/^ANT_PATCH_/);
          counts.set(code, (counts.get(code) ?? 0) + 1);
        }
      }
      console.log(
        `${tried.length} hostile diffs to git: ${[...counts].map(([code, count]) => `${code} ${count}`).join(", ")}`,
      );
      expect(snapshot(repo)).toBe(before);
    },
  );

  it.each([
    ["through a link to a directory", PLACES["add"]?.("link/x") ?? ""],
    [
      "of a link's target, without saying it is one",
      "diff --git a/file-link b/file-link\n--- a/file-link\n+++ b/file-link\n@@ -1 +1 @@\n-app.js\n\\ No newline at end of file\n+/etc/passwd\n\\ No newline at end of file\n",
    ],
    [
      "that renames a link",
      "diff --git a/link b/other\nsimilarity index 100%\nrename from link\nrename to other\n",
    ],
    [
      "that copies a link",
      "diff --git a/link b/other\nsimilarity index 100%\ncopy from link\ncopy to other\n",
    ],
    ["that makes a link's mode a file's", "diff --git a/link b/link\nold mode 100644\nnew mode 100755\n"],
    ["that puts a file over a directory", PLACES["add"]?.("lib") ?? ""],
    ["that puts a file below a file", PLACES["add"]?.("app.js/x") ?? ""],
    ["that adds an existing file", PLACES["add"]?.("app.js") ?? ""],
    ["that changes a missing file", PLACES["modify"]?.("none.js") ?? ""],
    [
      "that renames onto an existing file",
      "diff --git a/app.js b/lib/util.js\nsimilarity index 100%\nrename from app.js\nrename to lib/util.js\n",
    ],
  ])("refuses a change %s", async (_name, diff) => {
    const repo = makeRepo({ files: LINKED });
    expect(checkPatch(diff).ok).toBe(true);
    for (const threeWay of [false, true]) {
      await expect(applyPatch(repo.path, repo.head, diff, { threeWay })).rejects.toMatchObject({
        code: expect.stringMatching(/^ANT_PATCH_(SYMLINK|DOES_NOT_APPLY|PARSER_MISMATCH)$/) as string,
      });
    }
  });

  it("bounds the output of a small patch", async () => {
    const repo = makeRepo({ files: { "big.bin": Buffer.alloc(300_000, 1) } });
    const copies = Array.from(
      { length: 10 },
      (_, index) =>
        `diff --git a/big.bin b/c${index}\nsimilarity index 100%\ncopy from big.bin\ncopy to c${index}\n`,
    );
    const made = await applyPatch(repo.path, repo.head, copies.join(""), { maxBytes: 400_000 });
    expect(made.overlay).toHaveLength(10);
    await expect(
      applyPatch(repo.path, repo.head, copies.join(""), { maxBytes: 100_000 }),
    ).rejects.toMatchObject({ code: "ANT_PATCH_TOO_LARGE" });
  });

  it(
    "the parser and git never understand a mangled diff differently",
    { timeout: patient(300_000) },
    async () => {
      const repo = makeRepo({
        files: { ...HOSTILE_BASE, "sp ace.txt": "a\nb\nc\nd\n", "b.bin": Buffer.from([0, 1, 2, 3]) },
      });
      const tree = await treeOf(repo.path, repo.head);
      const content = (text: string): Buffer => Buffer.from(text);
      const overlay = [
        { path: "app.js", mode: "100755" as const, content: content("one\n2\nthree\nfour\n") },
        { path: "moved/sp ace.txt", mode: "100644" as const, content: content("a\nb\nc\nD\n") },
        { path: "b.bin", mode: "100644" as const, content: Buffer.from([0, 9, 9, 3]) },
        { path: "no-end", mode: "100644" as const, content: content("x") },
      ];
      const { patch } = await diffOverlay(repo.path, tree, {
        files: overlay,
        deletions: ["sp ace.txt", "lib/util.js"],
      });
      const lines = patch.split("\n");
      const index = fc.nat({ max: lines.length - 2 });
      const edit = fc.oneof(
        fc.record({ kind: fc.constant("drop" as const), at: index }),
        fc.record({ kind: fc.constant("double" as const), at: index }),
        fc.record({ kind: fc.constant("swap" as const), at: index }),
        fc.record({ kind: fc.constant("copy" as const), at: index, from: index }),
        fc.record({
          kind: fc.constant("char" as const),
          at: index,
          position: fc.nat({ max: 40 }),
          char: fc.constantFrom(" ", "+", "-", "\t", "a", "0", "1", "/", '"', "\\", "b", "@"),
        }),
      );
      const seen = { refused: 0, applied: 0, unfit: 0 };
      await fc.assert(
        fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
          const mangled = [...lines];
          for (const change of edits) {
            const line = mangled[change.at] ?? "";
            if (change.kind === "drop") mangled.splice(change.at, 1);
            else if (change.kind === "double") mangled.splice(change.at, 0, line);
            else if (change.kind === "copy") mangled.splice(change.at, 0, mangled[change.from] ?? "");
            else if (change.kind === "swap") mangled.splice(change.at, 2, mangled[change.at + 1] ?? "", line);
            else
              mangled[change.at] =
                line.slice(0, change.position) + change.char + line.slice(change.position + 1);
          }
          const text = mangled.join("\n");
          if (!checkPatch(text).ok) {
            seen.refused += 1;
            return;
          }
          try {
            await applyPatch(repo.path, repo.head, text);
            seen.applied += 1;
          } catch (thrown) {
            expect(AntiphonError.from(thrown).code).toBe("ANT_PATCH_DOES_NOT_APPLY");
            seen.unfit += 1;
          }
        }),
        { numRuns: DIFFS },
      );
      console.log(
        `${DIFFS} mangled diffs: ${seen.refused} refused, ${seen.unfit} did not fit, ${seen.applied} applied`,
      );
      expect(seen.refused).toBeGreaterThan(DIFFS / 2.5);
      expect(seen.applied + seen.unfit).toBeGreaterThan(DIFFS / 200); // One in 25 on average.
    },
  );
});
