/** What commands did to a workspace, as the sealed supervisor tells it from its own memory, over a real container. */
import { afterAll, describe, expect, it } from "vitest";
import type { SupervisedSandbox } from "../../../services/sandbox-runner/src/conversation/supervised-sandbox.ts";
import type { Written } from "../../../services/sandbox-runner/src/workspace/written.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { shell, testEngine } from "../../support/docker.ts";

const test = testEngine("written");

afterAll(async () => {
  await test.expectNoContainers();
});

const FILES: Readonly<Record<string, string>> = {
  "src/a.js": "a\n",
  "src/empty": "",
  "test/b.test.js": "b\n",
  "test/data/large": "l".repeat(100_000),
};

async function inWorkspace<T>(use: (sandbox: SupervisedSandbox) => Promise<T>): Promise<T> {
  const sandbox = await test.provider.start(await test.order());
  try {
    const files = Object.entries(FILES).map(([path, text]) => ({ path, content: Buffer.from(text) }));
    await sandbox.putTar(canonicalTar(files.map((file) => ({ ...file, mode: "100644" as const }))));
    await sandbox.remember(new Map());
    return await use(sandbox);
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "done" });
  }
}

async function after(sandbox: SupervisedSandbox, script: string, clear = false): Promise<Written> {
  const { exitCode, stderr } = await sandbox.run(shell(script));
  expect([exitCode, stderr.bytes.toString()]).toEqual([0, ""]);
  const survey = await sandbox.written(clear);
  if (survey.written === null) throw new Error("the supervisor cannot tell");
  expect(survey.cleared).toBe(clear);
  const sorted = (paths: readonly string[]) => [...paths].sort();
  const { made, changed, restored, read } = survey.written;
  return { made: sorted(made), changed: sorted(changed), restored: sorted(restored), read: sorted(read) };
}

const NONE: Written = { made: [], changed: [], restored: [], read: [] };

describe("what was written", () => {
  it.each([
    ["nothing", "true", {}],
    ["an overwritten file", "echo x > test/b.test.js", { changed: ["test/b.test.js"] }],
    ["a large one", "echo x >> test/data/large", { changed: ["test/data/large"] }],
    ["a missing directory", "rm -r test/data", { changed: ["test/data/large"] }],
    ["a mode", "chmod +x src/a.js", { changed: ["src/a.js"] }],
    ["a file that became a link", "ln -sf /etc/passwd src/a.js", { changed: ["src/a.js"] }],
    ["a file that became a directory", "rm src/a.js; mkdir src/a.js", { changed: ["src/a.js"] }],
    [
      "a file that was put back",
      "cp -p src/a.js /tmp/a; echo x > src/a.js; cat /tmp/a > src/a.js; touch -r /tmp/a src/a.js",
      { restored: ["src/a.js"] },
    ],
    [
      "a file that was put back by a rename",
      "cp -p src/a.js /tmp/a; mv /tmp/a src/a.js",
      { restored: ["src/a.js"] },
    ],
    [
      "new files and directories, the deeper ones by their top",
      "mkdir -p out/deep; touch src/new out/one out/deep/two",
      { made: ["out/", "out/deep/", "out/one", "src/new"] },
    ],
    ["a closed directory", "chmod 000 test", {}],
    [
      "files that were read",
      "cat src/a.js src/empty test/data/large",
      { read: ["src/a.js", "src/empty", "test/data/large"] },
    ],
  ])("of %s", (_name, script, expected) =>
    inWorkspace(async (sandbox) => {
      expect(await after(sandbox, script)).toEqual({ ...NONE, ...expected });
    }),
  );

  it("is cleared, even where a command closed its directories, and the next command finds none of it", () =>
    inWorkspace(async (sandbox) => {
      const script =
        "mkdir -p out/a/b /tmp/x/y; touch out/a/b/c /tmp/x/y/z /dev/shm/s; ln -s /workspace/src out/link; chmod 000 out/a/b out /tmp/x/y";
      expect(await after(sandbox, script, true)).toEqual({ ...NONE, made: ["out/", "out/a/", "out/link"] });
      const { stdout } = await sandbox.run(shell("find . /tmp /dev/shm -mindepth 1 | sort"));
      expect(stdout.bytes.toString().trim().split("\n")).toEqual([
        "./src",
        "./src/a.js",
        "./src/empty",
        "./test",
        "./test/b.test.js",
        "./test/data",
        "./test/data/large",
      ]);
    }));
});
