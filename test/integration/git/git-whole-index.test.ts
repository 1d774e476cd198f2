/**
 * A patch is applied to an index of the paths it touches. Plain git applies the same patch to an index of the whole tree: both
 * give the same tree, or refuse with the same words.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { AntiphonError } from "@antiphon/contracts";
import { applyPatch } from "@antiphon/git";
import { sized as howMany } from "../../support/night.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";

afterEach(() => cleanUpRepos());

/** A file's mode and content; a submodule's content is its commit. */
interface Entry {
  readonly mode: string;
  readonly content: string;
}
type Tree = ReadonlyMap<string, Entry>;

const CASES = howMany(24, 60);
const SUBMODULE = "160000";
const LINK = "120000";

const names = fc.constantFrom("a", "b", "a.b", "a-", "ü", "a b", "c.txt", ".gitattributes");
const paths = fc
  .array(names, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map((name, at) => (name === ".gitattributes" && at < parts.length - 1 ? "g" : name)))
  .map((parts) => parts.join("/"));
const LINES = Array.from({ length: 12 }, (_, at) => `line ${at}`);
const text = fc
  .array(fc.record({ at: fc.nat({ max: 11 }), line: fc.constantFrom("x", "y", "") }), { maxLength: 2 })
  .map((edits) => {
    const lines = [...LINES];
    for (const { at, line } of edits) lines[at] = line;
    return `${lines.join("\n")}\n`;
  });
const content = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom("", "no end", "\0binary\u0001") },
);
const attributes = fc.constantFrom("* merge=union\n", "*.txt -text merge=binary\n", "a* -diff\n");
const entry = fc.oneof(
  { weight: 8, arbitrary: fc.record({ mode: fc.constantFrom("100644", "100644", "100755"), content }) },
  { weight: 1, arbitrary: fc.record({ mode: fc.constant(LINK), content: fc.constantFrom("a", "b/a") }) },
  { weight: 1, arbitrary: fc.record({ mode: fc.constant(SUBMODULE), content: fc.constant("1".repeat(40)) }) },
);

const change = fc.record({
  kind: fc.constantFrom(
    "delete",
    "edit",
    "edit",
    "edit",
    "mode",
    "replace",
    "move",
    "deepen",
    "flatten",
    "add",
  ),
  at: fc.nat({ max: 20 }),
  path: paths,
  entry,
  rules: attributes,
});
type Change = Omit<typeof change extends fc.Arbitrary<infer T> ? T : never, "entry"> & {
  readonly entry: Entry;
};

function put(tree: Map<string, Entry>, path: string, made: Entry, rules: string): void {
  for (const other of tree.keys())
    if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) tree.delete(other);
  const isRules = path.endsWith(".gitattributes") && made.mode.startsWith("100");
  tree.set(path, isRules ? { mode: "100644", content: rules } : made);
}

function changed(before: Tree, changes: readonly Change[]): Map<string, Entry> {
  const after = new Map(before);
  for (const { kind, at, path, entry: made, rules } of changes) {
    const known = [...after.keys()];
    const chosen = known[at % Math.max(1, known.length)];
    const old = chosen === undefined ? undefined : after.get(chosen);
    if (kind === "add" || chosen === undefined || old === undefined) {
      put(after, path, made, rules);
      continue;
    }
    const directory = chosen.slice(0, chosen.lastIndexOf("/"));
    if (kind === "edit" && old.mode.startsWith("100")) put(after, chosen, { ...made, mode: old.mode }, rules);
    if (kind === "replace") put(after, chosen, made, rules);
    if (kind === "mode" && old.mode.startsWith("100"))
      put(after, chosen, { ...old, mode: old.mode === "100644" ? "100755" : "100644" }, rules);
    if (!["delete", "move", "deepen", "flatten"].includes(kind)) continue;
    after.delete(chosen);
    if (kind === "move") put(after, path, old, rules);
    if (kind === "deepen") put(after, `${chosen}/x`, old, rules);
    if (kind === "flatten" && directory !== "") put(after, directory, old, rules);
  }
  return after;
}

class Plain {
  readonly repo: TestRepo;
  readonly #index = join(tempDir(), "index");

  constructor(repo: TestRepo) {
    this.repo = repo;
  }

  git(args: readonly string[], input: string | Buffer = ""): string {
    return execFileSync("git", args, { ...this.#options(), input, encoding: "utf8" }).trimEnd();
  }

  #options() {
    const env = { PATH: process.env["PATH"], LC_ALL: "C", GIT_INDEX_FILE: this.#index };
    return { cwd: join(this.repo.path, ".git"), env: { ...env, GIT_DIR: join(this.repo.path, ".git") } };
  }

  written(tree: Tree): string {
    this.git(["read-tree", "--empty"]);
    const rows = [...tree].map(([path, { mode, content: body }]) => {
      const id = mode === SUBMODULE ? body : this.git(["hash-object", "-w", "--stdin"], body);
      return `${mode} ${id}\t${path}\0`;
    });
    this.git(["update-index", "-z", "--index-info"], rows.join(""));
    return this.git(["write-tree"]);
  }

  diff(from: string, to: string, form: string): Buffer {
    const args = ["diff-tree", "-r", "-p", "--binary", "--full-index", form, from, to];
    return execFileSync("git", args, { ...this.#options(), maxBuffer: 1 << 26 });
  }

  /** Git's own answer with an index of the whole tree. */
  applied(tree: string, patch: Buffer, threeWay: boolean): { tree: string } | { stderr: string } {
    this.git(["read-tree", tree]);
    const args = ["apply", "--cached", "--whitespace=nowarn", "-p1", ...(threeWay ? ["--3way"] : [])];
    // A three-way merge writes files where git runs.
    const { status, stderr } = spawnSync("git", args, {
      ...this.#options(),
      cwd: tempDir(),
      input: patch,
      encoding: "utf8",
    });
    return status === 0 ? { tree: this.git(["write-tree"]) } : { stderr };
  }

  /** Changed paths with their modes and contents, in git's order. */
  shown(from: string, to: string): { path: string; mode: string; id: string }[] {
    const listing = this.git(["diff-tree", "-r", "-z", "--no-renames", "--full-index", from, to]).split("\0");
    return Array.from({ length: Math.floor(listing.length / 2) }, (_, at) => {
      const [, mode = "", , id = ""] = (listing[2 * at] ?? "").split(" ");
      return { path: listing[2 * at + 1] ?? "", mode, id };
    });
  }
}

/** Attributes of files count where there is a work tree, and the scratch that applies a patch has none. */
function plainGit(format: "sha1" | "sha256"): Plain {
  const repo = makeRepo({ format });
  repo.git("config", "core.bare", "true");
  return new Plain(repo);
}

type Outcome = "applied" | "refused" | "refused afterwards" | "unreadable";

async function compared(plain: Plain, tree: string, patch: Buffer, threeWay: boolean): Promise<Outcome> {
  const expected = plain.applied(tree, patch, threeWay);
  const found = await applyPatch(plain.repo.path, tree, patch, { threeWay }).catch((thrown: unknown) =>
    AntiphonError.from(thrown),
  );
  if (!(found instanceof AntiphonError)) {
    expect(expected).toEqual({ tree: found.tree });
    const shown = plain.shown(tree, found.tree);
    const deleted = shown.filter(({ mode }) => mode === "000000").map(({ path }) => path);
    expect(found.deletions).toEqual(deleted);
    const written = shown.filter(({ mode }) => mode !== "000000");
    expect(found.overlay.map(({ path, mode }) => ({ path, mode }))).toEqual(
      written.map(({ path, mode }) => ({ path, mode })),
    );
    for (const [at, { content: body }] of found.overlay.entries())
      expect(plain.git(["hash-object", "--stdin"], body)).toBe(written[at]?.id);
    requireWhole(plain, tree, found);
    return "applied";
  }
  if (found.code === "ANT_PATCH_DOES_NOT_APPLY") {
    expect(expected).toEqual({ stderr: found.data["stderr"] });
    return "refused";
  }
  if (found.data["rule"] !== undefined) return "unreadable"; // Refused by the parser, before git.
  // What git makes is refused: links, submodules, and another mode than the patch names.
  expect(found.code).toMatch(/^ANT_PATCH_(SYMLINK|GITLINK|PARSER_MISMATCH)$/);
  const changedPaths = plain.shown(tree, "tree" in expected ? expected.tree : "").map(({ path }) => path);
  if (found.code !== "ANT_PATCH_GITLINK") expect(changedPaths).toContain(found.data["path"]);
  return "refused afterwards";
}

/** The objects of a change are all that its tree needs besides those of the tree before. */
function requireWhole(plain: Plain, before: string, made: Awaited<ReturnType<typeof applyPatch>>): void {
  const ids = new Set(made.objects.map(({ id }) => id));
  const needed = plain.git(["rev-list", "--objects", "--no-object-names", made.tree, `^${before}`]);
  expect(needed.split("\n").filter((id) => id !== "" && !ids.has(id))).toEqual([]);
}

const scenario = fc.record({
  base: fc.array(fc.tuple(paths, entry, attributes), { maxLength: 10 }),
  wanted: fc.array(change, { minLength: 1, maxLength: 4 }),
  moved: fc.array(change, { maxLength: 3 }),
  form: fc.constantFrom("--no-renames", "--find-renames=30%", "--find-copies-harder"),
});

describe("a patch", () => {
  it.each(["sha1", "sha256"] as const)(
    "gives the tree that an index of the whole tree gives, or is refused in the same words, with %s",
    { timeout: patient(300_000) },
    async (format) => {
      const plain = plainGit(format);
      const seen = new Map<Outcome, number>();
      await fc.assert(
        fc.asyncProperty(scenario, async ({ base: entries, wanted, moved, form }) => {
          const base = new Map<string, Entry>();
          for (const [path, made, rules] of entries) put(base, path, sized(made, format), rules);
          const fitted = (changes: readonly Change[]): Change[] =>
            changes.map((each) => ({ ...each, entry: sized(each.entry, format) }));
          const [from, to, head] = [base, changed(base, fitted(wanted)), changed(base, fitted(moved))].map(
            (tree) => plain.written(tree),
          );
          const patch = plain.diff(from ?? "", to ?? "", form);
          if (patch.length === 0) return;
          for (const threeWay of [false, true]) {
            const outcome = await compared(plain, head ?? "", patch, threeWay);
            seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
          }
        }),
        { endOnFailure: true, numRuns: format === "sha1" ? CASES : CASES / 4 },
      );
      console.log(`${format}: ${[...seen].map(([outcome, count]) => `${count} ${outcome}`).join(", ")}`);
      expect(seen.get("applied")).toBeGreaterThan(0);
      expect(seen.get("refused")).toBeGreaterThan(0);
    },
  );

  it("gives it on trees that git does not write any more", async () => {
    const plain = plainGit("sha1");
    const blob = plain.git(["hash-object", "-w", "--stdin"], `${LINES.join("\n")}\n`);
    const nothing = plain.git(["mktree"], "");
    const row = (mode: string, name: string, id: string): Buffer =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
    const made = (...rows: Buffer[]): string =>
      plain.git(["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], Buffer.concat(rows));
    const inner = made(row("100664", "file", blob), row("040000", "nothing", nothing));
    const tree = made(
      row("100664", "other", blob),
      row("040000", "sub", inner),
      row("40000", "zero", nothing),
    );
    const header = "diff --git a/sub/file b/sub/file\n--- a/sub/file\n+++ b/sub/file\n";
    const patch = Buffer.from(`${header}@@ -1,2 +1,2 @@\n-line 0\n+LINE 0\n line 1\n`);
    expect(await compared(plain, tree, patch, false)).toBe("applied");
  });

  it("is merged into files that are called as git's own", async () => {
    const own = ["HEAD", "commondir", "config", "index", "info/attributes", "objects/info/alternates"];
    const all = (line: string): Record<string, string> =>
      Object.fromEntries(own.map((path) => [path, LINES.join("\n").replace("line 9", line)]));
    const repo = makeRepo({ files: all("line 9"), commits: [{ files: all("theirs") }] });
    const [first = ""] = repo.commits;
    const ours = Object.entries(all("line 9")).map(
      ([path, body]) => [path, body.replace("line 0", "ours")] as const,
    );
    const next = repo.commit("ours", Object.fromEntries(ours));
    const patch = repo.git("diff", "--full-index", first, next);
    const made = await applyPatch(repo.path, repo.commits[1] ?? "", `${patch}\n`, { threeWay: true });
    expect(made.overlay.map(({ path }) => path)).toEqual(own);
    for (const { content: body } of made.overlay)
      expect(body.toString()).toBe(LINES.join("\n").replace("line 0", "ours").replace("line 9", "theirs"));
  });

  it("reads no more of a repository than the trees on its way", async () => {
    const repo = makeRepo({ files: { "a/b/c.txt": "1\n", "a/far/x.txt": "x\n", "far/y.txt": "y\n" } });
    const tree = repo.git("rev-parse", "HEAD:far");
    const gone = join(repo.path, ".git", "objects", tree.slice(0, 2), tree.slice(2));
    execFileSync("mv", [gone, `${gone}.aside`]);
    const patch = (path: string, old: string): string =>
      `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${old}\n+2\n`;
    const made = await applyPatch(repo.path, repo.head, patch("a/b/c.txt", "1"));
    expect(made.overlay.map(({ path }) => path)).toEqual(["a/b/c.txt"]);
    await expect(applyPatch(repo.path, repo.head, patch("far/y.txt", "y"))).rejects.toMatchObject({
      code: "ANT_REPO_INCOMPLETE",
    });
  });
});

/** A commit's id is as long as the repository's ids. */
function sized(made: Entry, format: "sha1" | "sha256"): Entry {
  return made.mode === SUBMODULE ? { ...made, content: "1".repeat(format === "sha1" ? 40 : 64) } : made;
}
