/**
 * Ignored files never leave a sandbox: our reading of git's rules is compared with git's own, and projects contain
 * links.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { Baseline } from "../../../services/sandbox-runner/src/workspace/collected.ts";
import { IgnoreRules } from "../../../services/sandbox-runner/src/workspace/ignore-rules.ts";
import { collectWhole } from "../../../services/sandbox-runner/src/workspace/workspace-reading.ts";
import { collectBounds } from "../../../services/sandbox-runner/src/job-limits.ts";
import { Refusal } from "../../../services/sandbox-runner/src/workspace/refusal.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { shell, testEngine } from "../../support/docker.ts";
import { rawTar } from "../../support/raw-tar.ts";
import { cleanUpRepos, tempDir } from "../../support/repo.ts";

const test = testEngine("ignored");

afterAll(async () => {
  cleanUpRepos();
  await test.expectNoContainers();
});

const bounds = { ...collectBounds(), gitignore: true };

describe("gitignore(5)", () => {
  it("is evaluated as by git, on random projects", () => {
    const names = fc.constantFrom("a", "b", "ab", "build", "x.log", "keep.log", ".env", "a b", "[a]", "ü");
    const paths = fc.uniqueArray(
      fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
      { minLength: 1, maxLength: 12 },
    );
    const word = fc.constantFrom(
      ...[
        "a",
        "b",
        "*",
        "**",
        "?",
        "*.log",
        "build",
        "[a-b]",
        "[!a]",
        "[[:alpha:]]",
        "\\a",
        "x*g",
        "ü",
        "a b",
        ".*",
      ],
    );
    const rule = fc
      .tuple(
        fc.constantFrom("", "", "", "!", "#", "\\!"),
        fc.constantFrom("", "", "/"),
        fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")),
        fc.constantFrom("", "", "/", " ", "\\ "),
      )
      .map((parts) => parts.join(""));
    const content = fc.array(rule, { maxLength: 5 }).map((lines) => lines.join("\n"));
    let checked = 0;
    fc.assert(
      fc.property(paths, content, content, (chosen, top, deep) => {
        const files = [
          { directory: "", content: Buffer.from(top).toString("latin1") },
          { directory: "a", content: Buffer.from(deep).toString("latin1") },
        ];
        const repo = tempDir("antiphon-ignore-");
        execFileSync("git", ["init", "-q", repo]);
        mkdirSync(join(repo, "a"));
        writeFileSync(join(repo, ".gitignore"), top);
        writeFileSync(join(repo, "a/.gitignore"), deep);
        const rules = new IgnoreRules(files, []);
        const ours = chosen.filter((path) => rules.ignores(path));
        const git = ignoredByGit(repo, chosen);
        checked += chosen.length;
        expect({ top, deep, ignored: ours }).toEqual({ top, deep, ignored: git });
      }),
      { numRuns: 150, seed: 5 },
    );
    console.log(`${checked} paths judged as git does`);
  });
});

/** Asks git about paths that do not exist, so that each path is a file and its parents are directories. */
function ignoredByGit(repo: string, paths: readonly string[]): string[] {
  const input = paths.map((path) => `./${path}\0`).join("");
  try {
    const out = execFileSync("git", ["-C", repo, "check-ignore", "--no-index", "-z", "--stdin"], { input });
    return out
      .toString("utf8")
      .split("\0")
      .slice(0, -1)
      .map((path) => path.slice(2));
  } catch (error) {
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  }
}

const TREE = {
  ".gitignore": "/dist/\n*.tmp\n.venv\n",
  "package.json": "{}",
  "src/a.js": "a",
  "tool/run": "#!/bin/sh\n",
};

function baselineOf(files: Record<string, string>): Baseline {
  return new Map(
    Object.entries(files).map(([path, content]) => {
      const sha256 = createHash("sha256").update(content).digest("hex");
      return [path, { kind: "file", mode: "100644", size: content.length, sha256 }] as const;
    }),
  );
}

/** The changes that a script makes to TREE, or the rule that refuses them. */
async function changesOf(script: string, remember = true): Promise<readonly string[]> {
  const sandbox = await test.provider.start(await test.order({ workspaceInodes: 40_000 }));
  try {
    const files = Object.entries(TREE).map(([path, content]) => ({
      path,
      mode: "100644" as const,
      content: Buffer.from(content),
    }));
    await sandbox.putTar(canonicalTar(files));
    if (remember) await sandbox.remember(baselineOf(TREE));
    const { exitCode, stderr } = await sandbox.run(shell(script));
    expect([exitCode, stderr.bytes.toString()]).toEqual([0, ""]);
    const changes = await sandbox.collect(baselineOf(TREE), bounds);
    return [...changes.files.map(({ path }) => `+${path}`), ...changes.deletions.map((path) => `-${path}`)];
  } catch (error) {
    if (error instanceof Refusal) return [error.rule];
    throw error;
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "done" });
  }
}

const NPM = `
mkdir -p node_modules/.bin node_modules/semver/bin node_modules/.pnpm-store
echo x > node_modules/semver/bin/semver.js; ln -s ../semver/bin/semver.js node_modules/.bin/semver
ln node_modules/semver/bin/semver.js node_modules/.pnpm-store/semver
i=0; while [ $i -lt 3000 ]; do echo $i > node_modules/semver/$i.js; i=$((i+1)); done
echo lock > package-lock.json; echo b > src/a.js`;
const VENV = `python3 -m venv --without-pip .venv; test -L .venv/bin/python3; mkdir -p src/__pycache__
echo > src/__pycache__/a.pyc; ln -s /usr/lib src/__pycache__/lib; echo b > src/b.py`;

describe("projects with links", () => {
  it.each([
    ["npm ci: links, hard links and 3,000 files in node_modules", NPM, ["+package-lock.json", "+src/a.js"]],
    ["a virtual environment", VENV, ["+src/b.py"]],
    ["a link by an ignored name", "ln -s /etc/passwd x.tmp; echo n > n", ["+n"]],
    [
      "a link below an ignored directory that a new rule names",
      "mkdir o; ln -s / o/l; echo o/ > src/.gitignore; echo /o/ >> .gitignore",
      ["+.gitignore", "+src/.gitignore"],
    ],
    [
      "a tracked file below an ignored directory's name",
      "mkdir dist; echo > dist/x; rm tool/run",
      ["-tool/run"],
    ],
  ])("%s: the changes are what git would add", async (_name, script, expected) => {
    expect(await changesOf(script)).toEqual(expected);
    expect(await changesOf(script, false)).toEqual(expected);
  });

  it.each([
    ["a link that is not ignored", "ln -s /etc/passwd l", "type-symlink"],
    ["a link beside an ignored one", "mkdir node_modules; ln -s / node_modules/l; ln -s / l", "type-symlink"],
    ["a link whose rule was taken back", "echo '!x.tmp' >> .gitignore; ln -s / x.tmp", "type-symlink"],
    [
      "a tracked file turned link under a new rule",
      "echo /src/ >> .gitignore; ln -sf /etc/passwd src/a.js",
      "type-symlink",
    ],
    [
      "an ignored link in the place of a tracked directory",
      "echo tool >> .gitignore; rm -r tool; ln -s /etc tool",
      "type-symlink",
    ],
    ["a rule file that is a link", "ln -sf /etc/passwd .gitignore; ln -s / x.tmp", "type-symlink"],
    ["a hard link that is not ignored", "echo a > a; ln a b", "type-hardlink"],
    [
      "a path that is too deep, even below an ignored directory",
      "p=d; for i in 1 2 3 4 5 6 7 8; do p=$p/$(printf %0200d 0); done; mkdir -p $p",
      "path-length",
    ],
  ])("%s is refused by a named rule", async (_name, script, rule) => {
    expect(await changesOf(script)).toEqual([rule]);
  });

  it.each([
    [
      "the same size, with its time stamps put back",
      "touch -r src/a.js /tmp/t; printf b > src/a.js; touch -r /tmp/t src/a.js",
      "+src/a.js",
    ],
    [
      "a shared mapping that was read before it was written",
      `python3 -c 'import mmap; f=open("src/a.js","r+b"); m=mmap.mmap(f.fileno(),1); m[0]; m[0]=98; m.close()'`,
      "+src/a.js",
    ],
    ["the executable bit alone", "chmod +x src/a.js", "+src/a.js"],
    ["another file of the same bytes in its place", "cp src/a.js n; mv n src/a.js", null],
  ])("a change by %s is found by the bytes", async (_name, script, expected) => {
    expect(await changesOf(script)).toEqual(expected === null ? [] : [expected]);
  });

  it("the rules also hold for an archive from a plain supervisor", async () => {
    const tar = rawTar(
      ...Object.entries(TREE).map(([name, content]) => ({ name: `./${name}`, content })),
      { name: "./node_modules/.bin/x", type: "2", link: "../y" },
      { name: "./x.tmp", type: "2", link: "/etc/passwd" },
      { name: "./new", content: "n" },
    );
    const whole = (hear: (piece: Buffer) => void): Promise<void> => Promise.resolve(hear(tar));
    const { files } = await collectWhole({ whole }, baselineOf(TREE), bounds);
    expect(files.map(({ path }) => path)).toEqual(["new"]);
  });
});
