/** A tree that is mounted over the layer of another commit: the same workspace, and the same changes, as one of its own. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, it } from "vitest";
import { Layering } from "../../../services/sandbox-runner/src/layers/layering.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import type { Collected } from "../../../services/sandbox-runner/src/workspace/collected.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { TreeArchive } from "../../../services/sandbox-runner/src/workspace/tree-archive.ts";
import {
  orderOf,
  planWorkspace,
  type WorkspacePlan,
} from "../../../services/sandbox-runner/src/workspace/workspace-plan.ts";
import { fillWorkspace, refillWorkspace } from "../../../services/sandbox-runner/src/workspace/workspace.ts";
import { shell, SMALL, testEngine } from "../../support/docker.ts";

const test = testEngine("layer-steps");
const over = { kind: "canceled", reason: "test over" } as const;
const directory = mkdtempSync(join(tmpdir(), "antiphon-steps-"));

const tarOf = (contents: Readonly<Record<string, string>>): Buffer =>
  canonicalTar(
    Object.entries(contents).map(([path, text]) => ({ path, mode: "100644", content: Buffer.from(text) })),
  );

const FILL = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`keep/f${at}`, `${at}\n`]));
const OLD = {
  ...FILL,
  "a/b/f": "f\n",
  "a/g": "g\n",
  "c/d/h": "h\n",
  "c/i": "i\n",
  top: "t\n",
  "same/x": "x\n",
};
const NEW = { ...FILL, "a/b/f": "f\n", "a/g": "new g\n", top: "t\n", same: "a file\n", "new/deep/n": "n\n" };
const ENVIRONMENT = tarOf({ "workspace/node_modules/m": "m\n", "home/.keep": "" });
const archive: Readonly<Record<string, Buffer>> = { "old.tar": tarOf(OLD), "new.tar": tarOf(NEW) };

const trees = new TreeArchive(
  directory,
  {
    async *stream(name: string) {
      yield await Promise.resolve(archive[name] ?? Buffer.alloc(0));
    },
  },
  1e9,
);
const environment = {
  digest: createHash("sha256").update(ENVIRONMENT).digest("hex"),
  ...{ bytes: ENVIRONMENT.length, files: 1, workspacePaths: new Set(["node_modules/m"]), owned: false },
  async *tar() {
    yield await Promise.resolve(ENVIRONMENT);
  },
  drop: () => Promise.reject(new Error("the environment is as it was")),
};
const layering = new Layering({
  store: test.provider.layers,
  onStreamed: (reason) => expect(reason).toBe(""),
});

afterEach(() => test.expectNoContainers(20_000));
afterAll(async () => {
  await test.removeLayers();
  rmSync(directory, { recursive: true });
});

function planned(name: string): Promise<WorkspacePlan> {
  const workspace = { tree: name, files: [], overlay: null, deletions: [] };
  const sources = { trees, layering, blob: () => Promise.reject(new Error("no blob")) };
  return planWorkspace(workspace, sources, SMALL.workspaceBytes, environment);
}

/** As the pool hands it out. */
async function mounted<T>(plan: WorkspacePlan, use: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const { imageId, limits, labels } = await test.order();
  const sandbox = await test.provider.start({ ...orderOf(plan, imageId, limits), labels });
  try {
    sandbox.compareWith?.(plan.wanted.tree?.baseline ?? new Map());
    await fillWorkspace({ sandbox, holds: plan.wanted.tree, repository: null }, plan, "exact");
    return await use(sandbox);
  } finally {
    await sandbox.destroy(over);
  }
}

async function said(sandbox: Sandbox, script: string): Promise<string> {
  const { stdout, stderr } = await sandbox.run(shell(script));
  return `${stdout.tail}${stderr.tail}`;
}

const collected = async (plan: WorkspacePlan, script: string): Promise<Collected> =>
  mounted(plan, async (sandbox) => {
    await said(sandbox, script);
    return sandbox.collect(plan.baseline, plan.bounds);
  });

it("has the files of its own commit and no other, beside the environment", async () => {
  const old = await planned("old.tar");
  const plan = await planned("new.tar");
  expect([plan.layers?.tree, plan.wanted.tree?.name]).toEqual([old.tree?.digest, "old.tar"]);
  await mounted(plan, async (sandbox) => {
    const names = (await said(sandbox, "find . -type f | sort")).trim().split("\n");
    expect(names).toEqual([...Object.keys(NEW), "node_modules/m"].map((path) => `./${path}`).sort());
    expect(await said(sandbox, "cat a/g same new/deep/n a/b/f; ls -d c a/b")).toBe(
      "new g\na file\nn\nf\na/b\nls: cannot access 'c': No such file or directory\n",
    );
  });
});

it("shows no change of its own, and those of a command as over a layer of its own", async () => {
  const plan = await planned("new.tar");
  const own = new Layering({ store: test.provider.layers, onStreamed: () => undefined });
  const sources = { trees, layering: own, blob: () => Promise.reject(new Error("no blob")) };
  const workspace = { tree: "new.tar", files: [], overlay: null, deletions: [] };
  const itself = await planWorkspace(workspace, sources, SMALL.workspaceBytes, environment);
  expect([plan.wanted.tree?.name, itself.wanted.tree?.name]).toEqual(["old.tar", "new.tar"]);
  expect(await collected(plan, "true")).toEqual({ files: [], deletions: [] });
  const edits =
    "echo changed > a/g; rm a/b/f new/deep/n; mkdir -p c/d && echo h > c/d/h; rm same && mkdir same && echo y > same/x; touch top";
  const change = await collected(plan, edits);
  expect(change).toEqual(await collected(itself, edits));
  expect(change.deletions).toEqual(["a/b/f", "new/deep/n", "same"]);
});

it("tells what checks did, and is itself again for the next trial", async () => {
  const plan = await planned("new.tar");
  await mounted(plan, async (sandbox) => {
    await said(sandbox, "echo made > made; echo x >> a/g; mv top t && mv t top");
    const survey = await sandbox.written?.(true);
    expect(survey?.written).toMatchObject({ made: ["made"], changed: ["a/g"], restored: ["top"] });
    await refillWorkspace(sandbox, plan, true);
    expect(await said(sandbox, "cat a/g; ls")).toBe("new g\na\nkeep\nnew\nnode_modules\nsame\ntop\n");
    expect((await sandbox.written?.(false))?.written).toMatchObject({ made: [], changed: [], restored: [] });
  });
});
