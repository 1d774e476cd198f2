/** The own loop meets a checkpoint that it cannot restore, with real git. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

interface Checkpoints {
  restored(): Promise<unknown>;
  keep(state: unknown): Promise<void>;
}
interface Program {
  readonly openCheckpoints: (
    env: NodeJS.ProcessEnv,
    root: string,
    send: (url: string, request: { method: string; body?: Buffer | string }) => Promise<Response>,
    note: (event: { why: string }) => void,
  ) => Promise<Checkpoints>;
}

const { openCheckpoints } = (await import(
  new URL("../../../agents/model/checkpoint.mjs", import.meta.url).href
)) as Program;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "antiphon-restore-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A work tree with one file, and the checkpoints that a loop in it has; `kept` is what the gateway holds. */
async function loop(kept: Map<string, Buffer>) {
  const root = mkdtempSync(join(folder, "tree-"));
  writeFileSync(join(root, "a.txt"), "as at the beginning\n");
  const bin = mkdtempSync(join(folder, "bin-"));
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const calls = join(bin, "calls");
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const script = (then: string): void => {
    writeFileSync(join(bin, "git"), `#!/bin/sh\necho "$*" >> '${calls}'\n${then}\n`);
    chmodSync(join(bin, "git"), 0o755);
  };
  script(`exec '${git}' "$@"`);
  const notes: string[] = [];
  const place = "http://gateway.test";
  const env = {
    PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
    ...{ HOME: temporary, TMPDIR: temporary, ANTIPHON_CHECKPOINT: place },
  };
  const checkpoints = await openCheckpoints(
    env,
    root,
    (url, { method, body }) => {
      const name = url.slice(place.length + 1);
      if (method === "PUT") kept.set(name, Buffer.from(body ?? ""));
      const found = kept.get(name);
      return Promise.resolve(new Response(found ?? null, { status: found === undefined ? 404 : 200 }));
    },
    ({ why }) => notes.push(why),
  );
  return { root, checkpoints, notes, script, calls };
}

const files = (root: string): string[] => readdirSync(root).filter((name) => name !== ".git");

/** A checkpoint with another file. */
async function keptBefore(): Promise<Map<string, Buffer>> {
  const kept = new Map<string, Buffer>();
  const { root, checkpoints } = await loop(kept);
  writeFileSync(join(root, "b.txt"), "work\n");
  await checkpoints.keep({ said: 1 });
  expect([...kept.keys()].sort()).toEqual(["state", "tree"]);
  return kept;
}

describe("a checkpoint", () => {
  test("that cannot be read is left alone, and no file is touched for it", async () => {
    const kept = new Map([["state", Buffer.from('{"v":2}')]]);
    const { root, checkpoints, notes, calls } = await loop(kept);
    mkdirSync(join(root, "by-others"));
    writeFileSync(calls, "");
    expect(await checkpoints.restored()).toBeNull();
    expect(notes).toEqual(["a checkpoint of version 2"]);
    expect([files(root), readFileSync(calls, "utf8")]).toEqual([["a.txt", "by-others"], ""]);
  });

  test("whose files are damaged leaves the files of the beginning, and the loop begins anew", async () => {
    const kept = await keptBefore();
    kept.set("tree", Buffer.from("no pack"));
    const { root, checkpoints, notes } = await loop(kept);
    expect(await checkpoints.restored()).toBeNull();
    expect(notes).toEqual([expect.stringContaining("git index-pack")]);
    expect(files(root)).toEqual(["a.txt"]);
  });

  test("that can neither be restored nor taken back ends the loop, with both reasons", async () => {
    const kept = await keptBefore();
    const { checkpoints, notes, script } = await loop(kept);
    script("echo 'the disk is full' >&2; exit 1");
    await expect(checkpoints.restored()).rejects.toThrow(
      /could not be restored \(git index-pack: the disk is full\), nor the files of the beginning \(git add: the disk is full\)/,
    );
    expect(notes).toEqual([]);
  });

  test("is restored with its files", async () => {
    const { root, checkpoints } = await loop(await keptBefore());
    expect(await checkpoints.restored()).toEqual({ said: 1 });
    expect(files(root)).toEqual(["a.txt", "b.txt"]);
  });
});
