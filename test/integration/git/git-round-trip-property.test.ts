/** Random trees and random changes: the computed diff applies back to exactly the same tree. */
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import {
  applyPatch,
  checkPatch,
  diffOverlay,
  readTar,
  TreeCache,
  writeTar,
  type OverlayFile,
} from "@antiphon/git";
import { cleanUpRepos, makeRepo, rawGit, tempDir } from "../../support/repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";
import { patient } from "../../support/patience.ts";

afterEach(() => cleanUpRepos());

const ODD_NAMES = [
  "a b",
  " lead",
  "tab\there",
  "line\nfeed",
  'quo"te',
  "apo'strophe",
  "back\\slash",
  "ünï",
  "日本",
  "emoji😀",
  "-dash",
  "--option",
  "#hash",
  "!bang",
  "[id]",
  "star*",
  "q?",
  "$(id)",
  "`id`",
  "a;b",
  "~home",
  ":colon",
  "b/",
  "x b",
  ".hidden",
  "…",
  "e\u0301",
  "\u00e9",
  "a\r",
];
const names = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "c", "d", "src", "lib", "x1", "x2", "f.txt", "g.js") },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_NAMES.filter((name) => !name.endsWith("/"))) },
);
const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));

const line = fc.constantFrom(
  "",
  "x",
  "y",
  "return;",
  "  indented",
  "trailing ",
  "tab\t",
  "no\rreturn",
  "+plus",
  "-minus",
  "@@ -1 +1 @@",
  "diff --git a/x b/x",
  "\\ No newline at end of file",
  "--- a/x",
  "+++ b/x",
  "ünïcödé",
  "GIT binary patch",
);
const text = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.boolean(), fc.constantFrom("\n", "\n", "\n", "\r\n"))
  .map(([lines, end, feed]) => Buffer.from(lines.join(feed) + (end && lines.length > 0 ? feed : "")));
const binary = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes));
const latin1 = fc
  .constantFrom("caf\xe9\n", "na\xefve\nline\n", "\xff\xfe\n")
  .map((value) => Buffer.from(value, "latin1"));
const content = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 2, arbitrary: binary },
  { weight: 1, arbitrary: latin1 },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
);
const mode = fc.constantFrom("100644" as const, "100644" as const, "100755" as const);
const file = fc.record({ path: paths, mode, content });

/** Without a path that is below another. */
function tree(files: readonly OverlayFile[]): Map<string, OverlayFile> {
  const kept = new Map<string, OverlayFile>();
  for (const candidate of files) {
    const clash = [...kept.keys()].some(
      (path) =>
        path !== candidate.path &&
        (path.startsWith(`${candidate.path}/`) || candidate.path.startsWith(`${path}/`)),
    );
    if (!clash) kept.set(candidate.path, candidate);
  }
  return kept;
}

const scenario = fc.record({
  base: fc.array(file, { maxLength: 12 }).map(tree),
  next: fc.array(file, { maxLength: 6 }),
  /** Changes to the base's files, one after the other. */
  fates: fc.array(fc.constantFrom("keep", "keep", "delete", "move", "chmod", "append", "binary"), {
    maxLength: 12,
  }),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

function changed({ base, next, fates }: Scenario): Map<string, OverlayFile> {
  const after = [...base.values()].flatMap((entry, index): OverlayFile[] => {
    switch (fates[index] ?? "keep") {
      case "delete":
        return [];
      case "move":
        return [{ ...entry, path: `moved/${entry.path}` }];
      case "chmod":
        return [{ ...entry, mode: entry.mode === "100644" ? "100755" : "100644" }];
      case "append":
        return [{ ...entry, content: Buffer.concat([entry.content, Buffer.from("appended")]) }];
      case "binary":
        return [{ ...entry, content: Buffer.concat([entry.content, Buffer.from([0, 1, 2, 255])]) }];
      default:
        return [entry];
    }
  });
  return tree([...next, ...after]);
}

describe("a change", () => {
  it(
    "as a diff of any two trees gives the second again, byte for byte and mode for mode",
    { timeout: patient(240_000) },
    async () => {
      const empty = makeRepo({ files: {} });
      const cache = new TreeCache(tempDir());
      let compared = 0;
      let accepted = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async (given) => {
          const after = changed(given);
          const emptyTree = empty.git("rev-parse", "HEAD^{tree}");
          const start = await diffOverlay(empty.path, emptyTree, {
            files: [...given.base.values()],
            deletions: [],
          });
          await cache.importTree(start.tree, writeTar(given.base.values()));

          const files = [...after.values()];
          const deletions = [...given.base.keys()].filter((path) => !after.has(path));
          const diff = await diffOverlay(cache, start.tree, { files, deletions });
          expect(diff.patch.includes("\ufffd")).toBe(false);
          const back = await applyPatch(cache, start.tree, diff.patch);
          expect(back.tree).toBe(diff.tree);
          const merged = new Map([
            ...given.base,
            ...back.overlay.map((entry) => [entry.path, entry] as const),
          ]);
          for (const path of back.deletions) merged.delete(path);
          const shown = (all: Map<string, OverlayFile>): string[] =>
            [...all.values()]
              .map((entry) => `${entry.path} ${entry.mode} ${entry.content.toString("hex")}`)
              .sort();
          expect(shown(merged)).toEqual(shown(after));
          if (checkPatch(diff.patch).ok) accepted += 1;
          compared += 1;
        }),
        { numRuns: 30 },
      );
      console.log(`${compared} pairs of trees compared; the policy accepts the names of ${accepted}`);
      expect(compared).toBeGreaterThanOrEqual(30);
    },
  );

  it("git/G5: a tree exported as an archive is imported with the same id, with links, submodules and long names", async () => {
    const long = `${"directory-of-some-length/".repeat(12)}${"n".repeat(120)}.txt`;
    const repo = makeRepo({
      files: {
        "a.txt": "a\n",
        "run.sh": { content: "#!/bin/sh\n", mode: "100755" },
        link: { link: "a.txt" },
        "far-link": { link: "x".repeat(150) },
        [long]: "long\n",
        [`${"p".repeat(90)}/${"q".repeat(90)}`]: "split\n",
        "binary.bin": Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 256)),
        empty: "",
        "ünï cödé/日本.txt": "u\n",
        "new\nline": "n\n",
      },
    });
    const sub = makeRepo({ files: { "s.txt": "s\n" } });
    repo.git("update-index", "--add", "--cacheinfo", `160000,${sub.head},vendor/sub`);
    rawGit(
      repo.path,
      "update-index",
      "--add",
      "--cacheinfo",
      `100644,${repo.git("rev-parse", "HEAD:a.txt")},z/last`,
    );
    repo.git("commit", "-q", "-m", "a submodule");
    const commit = repo.git("rev-parse", "HEAD");
    const exported = await exportedTree(repo.path, commit);
    expect(exported.tree).toBe(repo.git("rev-parse", "HEAD^{tree}"));
    expect(exported.gitlinks).toEqual(["vendor/sub"]);
    const cache = new TreeCache(tempDir());
    await cache.importTree(exported.tree, exported.tar);
    expect((await cache.readFile(exported.tree, long))?.toString()).toBe("long\n");
    expect(writeTar(readTar(exported.tar, { maxFiles: 99, maxBytes: 1 << 20 })).equals(exported.tar)).toBe(
      true,
    );
  });

  it("the archive is the same bytes from any clone, and other tools can read it", async () => {
    const repo = makeRepo({
      files: { "a/b.txt": "b\n", [`long/${"x".repeat(140)}`]: "x\n", link: { link: "a" } },
    });
    const clone = tempDir();
    rawGit(clone, "clone", "-q", repo.path, "copy");
    const [one, two] = [
      await exportedTree(repo.path, repo.head),
      await exportedTree(`${clone}/copy`, repo.head),
    ];
    expect(one.tar.equals(two.tar)).toBe(true);
    const { extract } = await import("tar-stream");
    const seen: string[] = [];
    const reader = extract();
    reader.end(one.tar);
    for await (const entry of reader) {
      seen.push(
        `${entry.header.name} ${entry.header.type} ${(entry.header.mode ?? 0).toString(8)} ${entry.header.uid} ${entry.header.mtime?.getTime()}`,
      );
      entry.resume();
    }
    expect(seen).toEqual([
      "a/b.txt file 644 65532 946684800000",
      "link symlink 777 65532 946684800000",
      `long/${"x".repeat(140)} file 644 65532 946684800000`,
    ]);
  });

  it("git/G5: refuses an archive that is not the tree it claims to be", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    const cache = new TreeCache(tempDir());
    const damaged = [
      ["one byte of content", (copy: Buffer) => copy.fill("X", 512, 513)],
      [
        "one byte of a name, checksum and all",
        () => writeTar([{ path: "c.txt", mode: "100644", content: Buffer.from("a\n") }]),
      ],
      ["the end cut off", (copy: Buffer) => copy.subarray(0, 1024)],
      ["nothing at all", () => Buffer.alloc(0)],
      [
        "a file that is a directory",
        () =>
          writeTar([
            { path: "a", mode: "100644", content: Buffer.alloc(0) },
            { path: "a/b", mode: "100644", content: Buffer.alloc(0) },
          ]),
      ],
      ["a file twice", (copy: Buffer) => Buffer.concat([copy.subarray(0, 1024), copy])],
    ] as const;
    for (const [, damage] of damaged) {
      await expect(cache.importTree(tree, damage(Buffer.from(tar)))).rejects.toMatchObject({
        code: "ANT_BLOB_CORRUPT",
      });
      expect(await cache.has(tree)).toBe(false);
    }
    await cache.importTree(tree, tar);
  });

  it("keeps names that are not UTF-8 as they are, in archive and diff", async () => {
    const repo = makeRepo();
    const blob = repo.git("rev-parse", "HEAD:README.md");
    const index = Buffer.concat([
      Buffer.from(`100644 ${blob}\tcaf`),
      Buffer.from([0xe9]),
      Buffer.from(".txt\0"),
    ]);
    const { execFileSync } = await import("node:child_process");
    execFileSync("git", ["update-index", "-z", "--index-info"], { cwd: repo.path, input: index });
    repo.git("commit", "-q", "-m", "latin1");
    const commit = repo.git("rev-parse", "HEAD");
    const exported = await exportedTree(repo.path, commit);
    const cache = new TreeCache(tempDir());
    await cache.importTree(exported.tree, exported.tar);
    const odd = (await cache.list(exported.tree)).find((entry) => entry.path.startsWith("caf"))?.path ?? "";
    const diff = await diffOverlay(cache, exported.tree, { files: [], deletions: [odd] });
    expect(diff.patch).toContain("caf\\351.txt");
    expect((await applyPatch(cache, exported.tree, diff.patch)).tree).toBe(diff.tree);
    expect(checkPatch(diff.patch)).toMatchObject({ ok: false, rule: "name.not-utf8" });
  });

  it("works on repositories that hash with SHA-256", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" }, format: "sha256" });
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    const cache = new TreeCache(tempDir());
    await cache.importTree(tree, tar);
    const content = Buffer.from("b\n");
    const diff = await diffOverlay(cache, tree, {
      files: [{ path: "a.txt", mode: "100644", content }],
      deletions: [],
    });
    const applied = await applyPatch(repo.path, repo.head, diff.patch);
    expect([tree.length, applied.tree]).toEqual([64, diff.tree]);
  });
});
