/**
 * A workspace whose files, directories or root the code inside closed to its own user: it is collected, reported and
 * cleared as any other, streamed or over a layer, and its modes stay as the code left them.
 */
import { createHash } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { collectBounds } from "../../../services/sandbox-runner/src/job-limits.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import type { Baseline, BaselineEntry } from "../../../services/sandbox-runner/src/workspace/collected.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { shell, testEngine } from "../../support/docker.ts";

const test = testEngine("closed");

afterEach(() => test.expectNoContainers(10_000));
afterAll(() => test.removeLayers());

const bounds = collectBounds();
const THOUSANDS = Array.from({ length: 3_000 }, (_, at) => `many/${at % 30}/${at}`);
const FILES = ["a", "d/e/deep", "d/one", "x/run"].map((path) => ({
  path,
  mode: path === "x/run" ? ("100755" as const) : ("100644" as const),
  content: Buffer.from(`${path}\n`),
}));
const MANY = [
  ...FILES,
  ...THOUSANDS.map((path) => ({ path, mode: "100644" as const, content: Buffer.from(`${path}\n`) })),
];

function baselineOf(files: typeof FILES): Baseline {
  return new Map(
    files.map(({ path, mode, content }): [string, BaselineEntry] => {
      const sha256 = createHash("sha256").update(content).digest("hex");
      return [path, { kind: "file", mode, size: content.length, sha256 }];
    }),
  );
}

async function streamed(files: typeof FILES, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = await test.provider.start(await test.order());
  try {
    await sandbox.putTar(canonicalTar(files));
    await sandbox.remember?.(baselineOf(files));
    await use(sandbox);
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "done" });
  }
}

async function layered(files: typeof FILES, use: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const tar = canonicalTar(files);
  const digest = createHash("sha256").update(tar).digest("hex");
  await test.provider.layers?.fill({ kind: "tree", digest }, () => once(tar));
  const layers = { tree: digest, environment: null };
  const sandbox = await test.provider.start({ ...(await test.order()), layers });
  try {
    sandbox.compareWith?.(baselineOf(files));
    await sandbox.remember?.(baselineOf(files));
    await use(sandbox);
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "done" });
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

async function done(sandbox: Sandbox, script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await sandbox.run(shell(script, { cwd: "/" }));
  expect([exitCode, stderr.tail]).toEqual([0, ""]);
  return stdout.tail;
}

async function changes(sandbox: Sandbox, files: typeof FILES): Promise<readonly string[]> {
  const collected = await sandbox.collect(baselineOf(files), bounds);
  return [
    ...collected.files.map(({ path, mode, content }) => `+${path} ${mode} ${content.toString().trim()}`),
    ...collected.deletions.map((path) => `-${path}`),
  ];
}

const MODES = "find /workspace -printf '%m %p\\n' | sort -k 2";

describe.each([
  ["streamed", streamed],
  ["over a layer", layered],
] as const)("a workspace %s", (_kind, within) => {
  it.each([
    ["a file, unchanged", "chmod 000 a", []],
    ["a changed file", "echo b > a; chmod 000 a", ["+a 100644 b"]],
    ["a file that could be run", "chmod 000 x/run", ["+x/run 100644 x/run"]],
    ["a new file", "echo n > n; chmod 000 n", ["+n 100644 n"]],
    ["a directory, unchanged", "chmod 000 d", []],
    [
      "directories in each other",
      "echo 1 > d/one; echo n > d/e/n; chmod 000 d/e d",
      ["+d/e/n 100644 n", "+d/one 100644 1"],
    ],
    ["a new directory", "mkdir n; echo f > n/f; chmod 000 n/f n", ["+n/f 100644 f"]],
    ["a directory that can be searched and not read", "echo 1 > d/one; chmod 111 d", ["+d/one 100644 1"]],
    ["a directory that can be read and not searched", "echo 1 > d/one; chmod 444 d", ["+d/one 100644 1"]],
    ["what nobody may write", "echo 1 > d/one; chmod -R a-w .", ["+d/one 100644 1"]],
    ["the workspace itself", "echo b > a; chmod 000 .", ["+a 100644 b"]],
    [
      "everything",
      "echo b > a; rm d/one; find /workspace -depth >/tmp/all; xargs chmod 000 </tmp/all",
      ["+a 100644 b", "+x/run 100644 x/run", "-d/one"],
    ],
  ])("that was closed is collected, and stays closed: %s", (_name, script, expected) =>
    within(FILES, async (sandbox) => {
      await done(sandbox, `cd /workspace; ${script}`);
      expect(await changes(sandbox, FILES)).toEqual(expected);
      const open = "chmod 700 /workspace 2>/dev/null; ls -ld /workspace/a | cut -c 1-10";
      const isAll = script.includes("xargs chmod") || script.includes("000 a");
      if (isAll) expect(await done(sandbox, open)).toBe("----------\n");
      expect(await changes(sandbox, FILES)).toEqual(expected);
    }),
  );

  it("keeps every mode that was found", () =>
    within(FILES, async (sandbox) => {
      await done(
        sandbox,
        "cd /workspace; echo b > a; mkdir n; chmod 4711 n; chmod 510 d/e; chmod 040 a; chmod 111 d",
      );
      const before = await done(sandbox, `chmod 755 /workspace/d; ${MODES}; chmod 111 /workspace/d`);
      await changes(sandbox, FILES);
      expect(await done(sandbox, "stat -c %a /workspace/d")).toBe("111\n");
      expect(await done(sandbox, `chmod 755 /workspace/d; ${MODES}`)).toBe(before);
    }));

  it("of thousands of closed files has no changes when none was changed", () =>
    within(MANY, async (sandbox) => {
      await done(sandbox, "find /workspace/many -depth -exec chmod 000 {} +");
      expect(await changes(sandbox, MANY)).toEqual([]);
    }));

  it("is whole although a process that was left running kept making and removing files", () =>
    within(MANY, async (sandbox) => {
      const loop = "while :; do for i in 1 2 3 4 5 6 7 8; do echo $i > v$i; done; rm -f v* many/1/*; done";
      await done(sandbox, `cd /workspace; echo b > a; (setsid sh -c '${loop}' >/dev/null 2>&1 &); sleep 0.2`);
      const found = await changes(sandbox, MANY);
      expect(found).toContain("+a 100644 b");
      expect(found.filter((one) => one.startsWith("-"))).toHaveLength(100);
    }));

  it.each([
    ["the workspace", "chmod 000 ."],
    ["a directory that nobody may write, with a changed file", "echo 1 > d/one; chmod -R a-w ."],
    [
      "everything",
      "echo 1 > d/one; mkdir -p n/m; touch n/m/f; find /workspace -depth >/tmp/all; xargs chmod 000 </tmp/all",
    ],
  ])("that a check closed is reported and can be filled again: %s", (_name, script) =>
    within(FILES, async (sandbox) => {
      await done(sandbox, `cd /workspace; ${script}`);
      const survey = await sandbox.written?.(true);
      expect(survey?.cleared).toBe(true);
      expect(survey?.written).not.toBeNull();
      await sandbox.remove(["a", "d", "x"]);
      await sandbox.putTar(canonicalTar(FILES));
      expect(await done(sandbox, "cd /workspace; find . -type f | sort; cat d/one; test -x x/run")).toBe(
        "./a\n./d/e/deep\n./d/one\n./x/run\nd/one\n",
      );
    }),
  );
});
