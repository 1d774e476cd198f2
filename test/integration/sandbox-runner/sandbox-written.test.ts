/** What commands did to a workspace, as the sealed supervisor tells it from its own memory, over a real container. */
import { createHash } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import type { SupervisedSandbox } from "../../../services/sandbox-runner/src/conversation/supervised-sandbox.ts";
import type { Written } from "../../../services/sandbox-runner/src/workspace/written.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { shell, testEngine } from "../../support/docker.ts";
import { atNight } from "../../support/night.ts";

const test = testEngine("written");

afterAll(async () => {
  await test.expectNoContainers();
  await test.removeLayers();
});

const FILES: Readonly<Record<string, string>> = {
  "src/a.js": "a\n",
  "src/empty": "",
  "test/b.test.js": "b\n",
  "test/data/large": "l".repeat(100_000),
};

const tarOf = (contents: Readonly<Record<string, string>>): Buffer =>
  canonicalTar(
    Object.entries(contents).map(([path, text]) => ({
      path,
      content: Buffer.from(text),
      mode: "100644" as const,
    })),
  );
const over = { kind: "canceled", reason: "done" } as const;

type InWorkspace = <T>(use: (sandbox: SupervisedSandbox) => Promise<T>) => Promise<T>;

const streamed: InWorkspace = async (use) => {
  const sandbox = await test.provider.start(await test.order());
  try {
    await sandbox.putTar(tarOf(FILES));
    await sandbox.remember(new Map());
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
};

/** A layer with other files, which are put right over it after they were remembered: so a warm sandbox gets its job. */
const LAYER: Readonly<Record<string, string>> = {
  "src/a.js": "another\n",
  "src/empty": "",
  "test/b.test.js": "b\n",
  "test/data": "a file in the place of a directory",
  "old/deep/gone": "gone",
  "old/gone": "gone",
};

const mounted: InWorkspace = async (use) => {
  const tar = tarOf(LAYER);
  const tree = createHash("sha256").update(tar).digest("hex");
  await test.provider.layers?.fill({ kind: "tree", digest: tree }, async function* () {
    yield await Promise.resolve(tar);
  });
  const sandbox = await test.provider.start({ ...(await test.order()), layers: { tree, environment: null } });
  try {
    await sandbox.remember(new Map());
    await sandbox.remove(["old", "test/data"]);
    await sandbox.putTar(tarOf({ "src/a.js": "a\n", "test/data/large": FILES["test/data/large"] ?? "" }));
    await sandbox.remember(new Map(), Object.keys(FILES));
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
};

/** Another tree, stepped to the right one: only what was put in or removed is remembered again. */
const stepped: InWorkspace = async (use) => {
  const sandbox = await test.provider.start(await test.order());
  const { "src/empty": _, ...others } = LAYER;
  const removed = ["old", "test/data", "src/empty", "never/was/there"];
  const put = { "src/a.js": "a\n", "src/empty": "", "test/data/large": FILES["test/data/large"] ?? "" };
  try {
    await sandbox.putTar(tarOf({ ...others, "src/empty/inner/file": "a directory in the place of a file" }));
    await sandbox.remember(new Map());
    await sandbox.remove(removed);
    await sandbox.putTar(tarOf(put));
    await sandbox.remember(new Map(), [], [...removed, ...Object.keys(put)]);
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
};

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

describe.each([
  ["in a streamed workspace", streamed],
  ...atNight<[where: string, inWorkspace: typeof streamed]>([
    "in a workspace that held another tree",
    stepped,
  ]),
  ["over layers", mounted],
])("what was written %s", (_where, inWorkspace) => {
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
      "a directory that was removed and made again",
      "rm -r test; mkdir -p test/data; echo b > test/b.test.js",
      { changed: ["test/data/large"], restored: ["test/b.test.js"] },
    ],
    [
      "a directory that became a file",
      "rm -r test; echo x > test",
      { changed: ["test/b.test.js", "test/data/large"], made: ["test"] },
    ],
    [
      "a directory that was made where another one had been",
      "mkdir -p old/deep; echo x > old/deep/gone",
      { made: ["old/", "old/deep/"] },
    ],
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
      expect(await after(sandbox, "echo x > src/a.js")).toEqual({ ...NONE, changed: ["src/a.js"] });
    }));

  it("is what came after the newest remembering", () =>
    inWorkspace(async (sandbox) => {
      await sandbox.run(shell("echo x > src/a.js; rm -r test; mkdir new; echo n > new/file"));
      await sandbox.remember(new Map());
      expect(await after(sandbox, "echo y > new/file; rm src/a.js")).toEqual({
        ...NONE,
        changed: ["new/file", "src/a.js"],
      });
    }));
});
