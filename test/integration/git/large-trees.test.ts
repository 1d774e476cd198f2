/** Trees that are too large to be held: they give the same bytes and the same ids as small ones, and are refused as strictly. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it, vi } from "vitest";
import { exportTree, TreeCache, writeTar } from "@antiphon/git";
import { gitFed, gitStream } from "../../../git/src/process/git-stream.ts";
import { largeRepo } from "../../support/large-repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";

/** Scratches are made there, and so nothing else is. */
function ownTmp(): void {
  vi.stubEnv("TMPDIR", tempDir());
}

afterEach(() => {
  vi.unstubAllEnvs();
  cleanUpRepos();
});

/** Everything that a tree can hold. */
function oddRepo(format: "sha1" | "sha256" = "sha1"): TestRepo {
  const repo = makeRepo({
    format,
    files: {
      empty: "",
      [`long/${"x".repeat(180)}`]: "1\n",
      run: { content: "#!/bin/sh\n", mode: "100755" },
      link: { link: "a/b.txt" },
      far: { link: `../${"y".repeat(150)}` },
      "a/b.txt": "same\n",
      "c/d.txt": "same\n",
      "a/c.bin": Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 251)),
      block: "z".repeat(512),
    },
  });
  const id = "1".repeat(format === "sha1" ? 40 : 64);
  repo.git("update-index", "--add", "--cacheinfo", `160000,${id},module`);
  repo.git("commit", "-q", "-m", "a submodule");
  repo.head = repo.git("rev-parse", "HEAD");
  return repo;
}

async function collected(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

async function* inPieces(bytes: Buffer, size = 777): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** `tar`: of the commit, in a stream. */
async function streamed(repo: TestRepo) {
  const { tar, ...facts } = await exportTree(repo.path, repo.head, { maxHeldBytes: 0 });
  if (Buffer.isBuffer(tar)) throw new Error("the archive is held");
  return { ...facts, tar };
}

describe("a tree that is streamed", () => {
  it.each(["sha1", "sha256"] as const)("has the same archive as one that is held (%s)", async (format) => {
    const repo = oddRepo(format);
    ownTmp();
    const held = await exportedTree(repo.path, repo.head);
    const { tar, ...facts } = await streamed(repo);
    expect({ ...facts, tar: held.tar }).toEqual(held);
    for (let time = 0; time < 2; time += 1) expect((await collected(tar())).equals(held.tar)).toBe(true);
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it.each(["sha1", "sha256"] as const)("git/G5: is imported with the same objects (%s)", async (format) => {
    const repo = oddRepo(format);
    const { tree, tar } = await streamed(repo);
    const [held, cache] = [new TreeCache(tempDir()), new TreeCache(tempDir(), { maxHeldBytes: 1000 })];
    await held.importTree(tree, tar());
    await cache.importTree(tree, tar());
    expect(await cache.list(tree)).toEqual(await held.list(tree));
    for (const { path } of await held.list(tree))
      expect(await cache.readFile(tree, path)).toEqual(await held.readFile(tree, path));
    const fsck = ["fsck", "--strict", "--no-dangling"];
    execFileSync("git", fsck, { cwd: `${cache.dir}/${tree}.git`, stdio: "pipe" });
  });

  it("git/G5: is refused, and leaves nothing, when its archive is not that tree", async () => {
    const repo = oddRepo();
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    const at = tar.indexOf("same\n");
    const damaged: Record<string, Buffer> = {
      "one byte of content": Buffer.from(tar).fill("X", at, at + 1),
      "another name": writeTar([{ path: "c", mode: "100644", content: Buffer.alloc(5000) }]),
      "the end cut off": tar.subarray(0, tar.length - 1024),
      "cut in a content": tar.subarray(0, at + 2),
      "a file that is a directory": writeTar([
        { path: "a", mode: "100644", content: Buffer.alloc(3000) },
        { path: "a/b", mode: "100644", content: Buffer.alloc(0) },
      ]),
      "a file twice": Buffer.concat([tar.subarray(0, 1024), tar]),
      "a header that does not match its checksum": Buffer.from(tar).fill("7", 1, 2),
    };
    const cache = new TreeCache(tempDir(), { maxHeldBytes: 100 });
    for (const [name, bytes] of Object.entries(damaged)) {
      const importing = cache.importTree(tree, inPieces(bytes));
      await expect(importing, name).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
      expect(await cache.has(tree)).toBe(false);
      expect(readdirSync(cache.dir)).toEqual([]);
    }
    await cache.importTree(tree, inPieces(tar));
    expect(await cache.has(tree)).toBe(true);
  });

  it("git/G5: is not cached when its source fails, even after the last byte", async () => {
    const repo = oddRepo();
    const { tree, tar } = await exportedTree(repo.path, repo.head);
    const cache = new TreeCache(tempDir(), { maxHeldBytes: 100 });
    async function* corruptAtTheEnd(): AsyncGenerator<Buffer> {
      yield* inPieces(tar);
      throw new Error("the digest is another one");
    }
    await expect(cache.importTree(tree, corruptAtTheEnd())).rejects.toThrow("the digest is another one");
    expect(readdirSync(cache.dir)).toEqual([]);
  });

  it("over a limit is refused with its size and the limit before a byte of it is read out", async () => {
    const repo = oddRepo();
    ownTmp();
    await expect(exportTree(repo.path, repo.head, { maxBytes: 70_000 })).rejects.toMatchObject({
      code: "ANT_REPO_TOO_LARGE",
      detail: expect.stringMatching(/has 70\d\d\d bytes of files; the limit is 70000 bytes$/) as string,
    });
    await expect(exportTree(repo.path, repo.head, { maxFiles: 9 })).rejects.toMatchObject({
      code: "ANT_REPO_TOO_LARGE",
      detail: expect.stringMatching(/has 10 files; the limit is 9 files$/) as string,
    });
    expect(readdirSync(tmpdir())).toEqual([]);
  });

  it("counts a content once for each file that has it", async () => {
    const content = "x".repeat(100_000);
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, content]));
    const repo = makeRepo({ files });
    await expect(exportTree(repo.path, repo.head, { maxBytes: 2_999_999 })).rejects.toMatchObject({
      code: "ANT_REPO_TOO_LARGE",
    });
    const { tar } = await exportTree(repo.path, repo.head, { maxBytes: 3_000_000, maxHeldBytes: 200_000 });
    expect(Buffer.isBuffer(tar)).toBe(false);
  });

  it("with a missing object is refused while it is read out", async () => {
    const repo = oddRepo();
    ownTmp();
    const { tar } = await streamed(repo);
    const id = repo.git("rev-parse", "HEAD:a/c.bin");
    execFileSync("rm", [`${repo.path}/.git/objects/${id.slice(0, 2)}/${id.slice(2)}`]);
    await expect(collected(tar())).rejects.toMatchObject({ code: "ANT_REPO_INCOMPLETE" });
    expect(readdirSync(tmpdir())).toEqual([]);
  });
});

describe("git with streams", () => {
  it("ends with a reader that stops early", async () => {
    const repo = largeRepo({ mib: 40, fileMiB: 20 });
    const ids = repo.git("rev-parse", "HEAD:f0", "HEAD:f1").split("\n");
    const args = ["cat-file", "--batch"];
    const gitDir = `${repo.path}/.git`;
    const output = gitStream({ gitDir, args, input: [Buffer.from(`${ids.join("\n")}\n`)] });
    const first = await output.next();
    expect(first.done).toBe(false);
    await output.return(undefined);
    expect(children("cat-file")).toEqual([]);
  });

  it("fails with git's own reason, and with the one of a source that throws", async () => {
    const gitDir = `${makeRepo().path}/.git`;
    const input = [Buffer.from("nonsense\n")];
    await expect(gitFed({ gitDir, args: ["fast-import", "--quiet"], input })).rejects.toMatchObject({
      code: "ANT_GIT_FAILED",
    });
    async function* failing(): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.from("blob\n"));
      throw new RangeError("no more");
    }
    await expect(gitFed({ gitDir, args: ["fast-import"], input: failing() })).rejects.toThrow(RangeError);
  });

  it("git/G2: fails with the reason of git, and ends its source, when git ends before it has read its input", async () => {
    const gitDir = `${makeRepo().path}/.git`;
    const state = { ended: 0 };
    async function* long(isKilled: boolean): AsyncGenerator<Buffer> {
      try {
        for (let at = 0; at < 256; at += 1) {
          if (isKilled && at === 16) for (const pid of pidsOf("fast-import")) process.kill(pid, "SIGKILL");
          yield await Promise.resolve(Buffer.alloc(32 * 1024, isKilled ? "#\n" : "nonsense\n"));
        }
      } finally {
        state.ended += 1;
      }
    }
    const args = ["fast-import", "--quiet"];
    const killed = gitFed({ gitDir, args, input: long(true) });
    await expect(killed).rejects.toMatchObject({ code: "ANT_GIT_INTERRUPTED" });
    const refused = gitFed({ gitDir, args, input: long(false) });
    await expect(refused).rejects.toMatchObject({ code: "ANT_GIT_FAILED" });
    expect(state.ended).toBe(2);
  });

  it("ends at its deadline", async () => {
    const gitDir = `${makeRepo().path}/.git`;
    async function* never(): AsyncGenerator<Buffer> {
      yield Buffer.from("\n");
      await new Promise(() => undefined);
    }
    const input = never();
    const call = { gitDir, args: ["cat-file", "--batch"], input, deadlineMs: 200 };
    await expect(gitFed(call)).rejects.toMatchObject({ code: "ANT_GIT_TIMEOUT" });
  });
});

/** Processes of this one with such an argument. */
function children(word: string): string[] {
  const listed = execFileSync("ps", ["--ppid", String(process.pid), "-o", "pid=,args="], {
    encoding: "utf8",
  });
  return listed.split("\n").filter((line) => line.includes(word));
}

const pidsOf = (word: string): number[] => children(word).map((line) => Number.parseInt(line, 10));
