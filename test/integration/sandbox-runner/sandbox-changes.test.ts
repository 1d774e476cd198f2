/** Compares the supervisor's report of changes with the changes in a whole archive of the same workspace. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type {
  Baseline,
  BaselineEntry,
  Collected,
} from "../../../services/sandbox-runner/src/workspace/collected.ts";
import { collectWhole } from "../../../services/sandbox-runner/src/workspace/workspace-reading.ts";
import { collectBounds } from "../../../services/sandbox-runner/src/job-limits.ts";
import { Refusal } from "../../../services/sandbox-runner/src/workspace/refusal.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { shell, testEngine } from "../../support/docker.ts";
import { patient } from "../../support/patience.ts";

const test = testEngine("changes");

afterAll(async () => {
  await test.expectNoContainers();
});

const bounds = collectBounds();
const MiB = 1024 * 1024;

/** Small and empty files, one just below and two above the size that is remembered, odd names, several directories. */
const FILES: Readonly<Record<string, string>> = {
  a: "a\n",
  empty: "",
  "d/e/deep": "deep\n",
  "d/one": "one\n",
  "d/two": "two\n",
  "g/page": "p".repeat(4096),
  "g/most": "m".repeat(65_535),
  "g/large": "l".repeat(65_536),
  "g/larger": "L".repeat(200_000),
  "odd/new\nline": "n\n",
  "odd/ü b": "u\n",
  "odd/12": "12\n",
  "odd/-x": "x\n",
};
const NAMES = Object.keys(FILES);

const BASELINE: Baseline = new Map<string, BaselineEntry>(
  NAMES.map((path) => {
    const content = Buffer.from(FILES[path] ?? "");
    const sha256 = createHash("sha256").update(content).digest("hex");
    return [path, { kind: "file", mode: "100644", size: content.length, sha256 }];
  }),
);

async function inWorkspace<T>(use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const sandbox = await test.provider.start(await test.order());
  try {
    await sandbox.putTar(
      canonicalTar(NAMES.map((path) => ({ path, mode: "100644", content: Buffer.from(FILES[path] ?? "") }))),
    );
    await sandbox.remember(BASELINE);
    return await use(sandbox);
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "done" });
  }
}

async function said(collecting: Promise<Collected>): Promise<readonly string[]> {
  try {
    const { files, deletions } = await collecting;
    return [
      ...files.map(({ path, mode, sha256 }) => `+${path} ${mode} ${sha256}`),
      ...deletions.map((path) => `-${path}`),
    ];
  } catch (error) {
    if (error instanceof Refusal) return [error.rule];
    throw error;
  }
}

async function wholeOf(sandbox: Sandbox): Promise<readonly string[]> {
  const most = { keepBytes: 8 * MiB, maxOutputBytes: 8 * MiB };
  const { stdout } = await sandbox.run(shell("tar -cf - .", most));
  const whole = (hear: (piece: Buffer) => void): Promise<void> => Promise.resolve(hear(stdout.bytes));
  return said(collectWhole({ whole }, BASELINE, bounds));
}

async function after(sandbox: Sandbox, script: string): Promise<readonly string[]> {
  const { exitCode, stderr } = await sandbox.run(shell(script));
  expect([exitCode, stderr.bytes.toString()]).toEqual([0, ""]);
  return said(sandbox.collect(BASELINE, bounds));
}

/** Only the paths, without modes and hashes. */
function paths(changes: readonly string[]): readonly string[] {
  return changes.map((change) => change.replace(/ 100(644|755) [0-9a-f]{64}$/, ""));
}

const MAPPED = `python3 -c 'import mmap; f=open("a","r+b"); m=mmap.mmap(f.fileno(),2); m[0]; m[0]=98; m.close()'`;

describe("the changes in a workspace", () => {
  it.each([
    ["nothing", "cat d/one > /tmp/x", []],
    ["a shared mapping, same size, no time stamp touched", MAPPED, ["+a"]],
    ["a file grown by one byte", "printf x >> a", ["+a"]],
    ["an empty file grown", "printf x > empty", ["+empty"]],
    ["the largest remembered file, grown past the remembered size", "printf m >> g/most", ["+g/most"]],
    ["a file made shorter", "printf o > d/one", ["+d/one"]],
    [
      "the last byte of a large one",
      "printf x | dd of=g/larger bs=1 seek=199999 conv=notrunc status=none",
      ["+g/larger"],
    ],
    ["its mode alone", "chmod g+x a", ["+a"]],
    ["a mode that git does not know", "chmod 600 a", []],
    ["a file of the same bytes in its place", "cp -p a n; mv n a", []],
    ["a directory removed", "rm -r d", ["-d/e/deep", "-d/one", "-d/two"]],
    ["directories emptied", "rm d/one d/two d/e/deep", ["-d/e/deep", "-d/one", "-d/two"]],
    ["a directory moved", "mv d/e e", ["+e/deep", "-d/e/deep"]],
    ["a directory in a file's place", "rm a; mkdir a; echo b > a/b", ["+a/b", "-a"]],
    ["an empty directory in a file's place", "rm d/one; mkdir d/one", ["-d/one"]],
    ["a file in a directory's place", "rm -r d/e; echo e > d/e", ["+d/e", "-d/e/deep"]],
    [
      "odd names, changed and removed",
      "echo > 'odd/ü b'; rm odd/-x odd/12",
      ["+odd/ü b", "-odd/-x", "-odd/12"],
    ],
    ["a name with a newline, removed", "rm odd/new*", ["-odd/new\nline"]],
    ["a name with a newline, changed", 'for f in odd/new*; do echo more >> "$f"; done', ["+odd/new\nline"]],
    ["a repository of its own", "mkdir .git d/.git; echo x > .git/x; echo y > d/.git/y", []],
  ])("are found by the bytes: %s", async (_name, script, expected) => {
    await inWorkspace(async (sandbox) => {
      const changes = await after(sandbox, script);
      expect(paths(changes)).toEqual(expected);
      expect(changes).toEqual(await wholeOf(sandbox));
    });
  });

  it.each([
    ["a fifo in a file's place", "rm a; mkfifo a", "type-fifo"],
    ["a fifo", "mkfifo d/f", "type-fifo"],
    ["a link in a file's place, to the same bytes", "mv a /tmp/a; ln -s /tmp/a a", "type-symlink"],
    [
      "a link in a directory's place, to the same files",
      "cp -r d /tmp/d; rm -r d; ln -s /tmp/d d",
      "type-symlink",
    ],
    ["a new name with a newline", "echo > 'x\ny'", "path-control"],
    ["a new name that is not UTF-8", "printf '\\377' > /tmp/n; echo > \"$(cat /tmp/n)\"", "path-text"],
    ["a directory too deep to be entered", `p=${"d".repeat(250)}; mkdir -p $p/$p/$p/$p/x/$p`, "path-length"],
  ])("are refused by a named rule: %s", async (_name, script, rule) => {
    await inWorkspace(async (sandbox) => {
      expect(await after(sandbox, script)).toEqual([rule]);
    });
  });

  it("leave out a socket in a file's place, as tar does", async () => {
    const script = `rm a; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("a")'`;
    await inWorkspace(async (sandbox) => {
      expect(paths(await after(sandbox, script))).toEqual(["-a"]);
    });
  });

  it(
    "match a whole archive after random changes",
    async () => {
      const path = fc.constantFrom(...NAMES, "new", "d/new", "d/e/new", "n/e/w");
      const word = (text: string): string => `'${text}'`;
      const change = fc.oneof(
        fc
          .tuple(path, fc.constantFrom("", "a", "xy\\n", "one\\n"))
          .map(([to, text]) => `printf '${text}' > ${word(to)}`),
        path.map((to) => `printf x >> ${word(to)}`),
        path.map((to) => `rm -rf -- ${word(to)}`),
        path.map((to) => `chmod g+x -- ${word(to)}`),
        path.map((to) => `chmod g+w,g-r -- ${word(to)}`),
        path.map((to) => `rm -rf -- ${word(to)}; mkdir -p -- ${word(to)}/in; echo > ${word(to)}/in/file`),
        fc.tuple(path, path).map(([from, to]) => `mv -T -- ${word(from)} ${word(to)}`),
        fc.tuple(path, path).map(([from, to]) => `cp -T -- ${word(from)} ${word(to)}`),
        fc.constantFrom("d", "d/e", "g", "odd").map((at) => `rm -rf ${at}`),
        fc.constantFrom("d", "d/e", "n/e").map((at) => `mkdir -p ${at}`),
        fc.constantFrom("d", "d/e", "g").map((at) => `mv -T ${at} moved; cp -rT moved ${at}`),
      );
      const rounds = fc.sample(fc.array(change, { minLength: 1, maxLength: 6 }), { numRuns: 60, seed: 11 });
      const seen = new Set<string>();
      // The changes of ten rounds pile up in one workspace.
      for (let at = 0; at < rounds.length; at += 10) {
        await inWorkspace(async (sandbox) => {
          for (const changes of rounds.slice(at, at + 10)) {
            await sandbox.run(shell(changes.join("\n"))); // a command that fails leaves the files as they are
            const ours = await said(sandbox.collect(BASELINE, bounds));
            expect({ changes, said: ours }).toEqual({ changes, said: await wholeOf(sandbox) });
            for (const one of paths(ours)) seen.add(one);
          }
        });
      }
      console.log(`${rounds.length} workspaces, ${seen.size} different changes, all as in the archive`);
      expect(seen.size).toBeGreaterThan(30);
    },
    patient(60_000),
  );
});
