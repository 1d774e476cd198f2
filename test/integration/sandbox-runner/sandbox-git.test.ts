/** Git inside a sandbox, with the real image: what an agent can do with it, and that nothing of it comes out or stays. */
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { exportHistory, exportLinked } from "@antiphon/git";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxWorkspace } from "@antiphon/contracts";
import { BubblewrapProvider } from "../../../services/sandbox-runner/src/providers/bubblewrap/bubblewrap-provider.ts";
import type { CollectBounds, Collected } from "../../../services/sandbox-runner/src/workspace/collected.ts";
import {
  orderOf,
  planWorkspace,
  type WorkspacePlan,
} from "../../../services/sandbox-runner/src/workspace/workspace-plan.ts";
import { fillWorkspace, putRepository } from "../../../services/sandbox-runner/src/workspace/workspace.ts";
import { TreeArchive, type Tree } from "../../../services/sandbox-runner/src/workspace/tree-archive.ts";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { makeTrappedRepo } from "../../support/hostile-repo.ts";
import { cleanUpRepos, makeRepo, manyFiles, type TestRepo } from "../../support/repo.ts";
import { shell, SMALL, testEngine } from "../../support/docker.ts";
import { exportedTree } from "../../support/exported-tree.ts";

const docker = testEngine("git");
const directory = mkdtempSync(join(tmpdir(), "antiphon-trees-"));
let serial = 0;
const bubblewrap = new BubblewrapProvider({
  instance: docker.instance,
  path: process.env["PATH"] ?? "",
  newName: () => `git-${(serial += 1)}`,
});

afterEach(cleanUpRepos);
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await docker.expectNoContainers();
  await docker.removeLayers();
});

type Asked = Partial<Pick<SandboxWorkspace, "files" | "deletions">> & {
  git?: boolean;
  roomBytes?: number;
  /** The sandbox was warm and has the repository already. */
  held?: boolean;
};

interface Inside {
  plan: WorkspacePlan;
  sandbox: Sandbox;
  /** The output of a script that must succeed. */
  readonly said: (script: string) => Promise<string>;
  readonly collect: (bounds?: Partial<CollectBounds>) => Promise<Collected>;
}

const streamed = (): Promise<null> => Promise.resolve(null);
const blob = (): Promise<Buffer> => Promise.reject(new Error("no overlay here"));

/** Mounts any tree, however small. */
async function mounted(tree: Pick<Tree, "digest" | "tar"> | null) {
  if (tree === null) return null;
  await docker.provider.layers?.fill({ kind: "tree", digest: tree.digest }, () => tree.tar());
  return { tree: tree.digest, environment: null };
}

/** Exports the head as the Director does, and fills a sandbox with it as the runner does. */
async function inside(
  provider: "docker" | "layers" | "bubblewrap",
  repo: TestRepo,
  asked: Asked,
  use: (inside: Inside) => Promise<void>,
): Promise<void> {
  const { tree, tar } = await exportedTree(repo.path, repo.head);
  const linked = await exportLinked(repo.path, repo.head, () => Promise.resolve(true));
  const options = { commits: 50, branch: "refs/heads/main", sizes: () => Promise.resolve(linked.sizes) };
  const history =
    asked.git === false && asked.held !== true ? null : await exportHistory(repo.path, repo.head, options);
  const archive = `history-${repo.head}.tar`;
  const objects = new Map<string, Buffer | null>([
    [`tree-${tree}.tar`, tar],
    [`linked-${tree}.tar`, linked.tar],
    [archive, history?.tar ?? null],
  ]);
  const source = {
    async *stream(name: string) {
      yield objects.get(name) ?? Buffer.alloc(0);
    },
  };
  const trees = new TreeArchive(join(directory, tree), source, 1e9);
  const plan = await planWorkspace(
    {
      tree: `tree-${tree}.tar`,
      ...(linked.tar === null ? {} : { linked: `linked-${tree}.tar` }),
      ...(asked.git === false ? {} : { git: archive }),
      files: asked.files ?? [],
      overlay: null,
      deletions: asked.deletions ?? [],
    },
    { trees, layering: { layersOf: provider === "layers" ? mounted : streamed }, blob },
    asked.roomBytes ?? SMALL.workspaceBytes,
  );
  const { imageId, limits, labels } =
    provider === "bubblewrap" ? { imageId: "host", limits: SMALL, labels: {} } : await docker.order();
  const order = { ...orderOf(plan, imageId, limits), labels };
  const sandbox = await (provider === "bubblewrap" ? bubblewrap : docker.provider).start(order);
  try {
    const holds = provider === "layers" ? plan.tree : null;
    if (holds !== null) sandbox.compareWith?.(holds.baseline); // as the pool does
    if (asked.held === true) await putRepository(sandbox, { git: await trees.open(archive) }); // as the pool does
    await fillWorkspace({ sandbox, holds, repository: asked.held === true ? archive : null }, plan, "hint");
    await use({
      plan,
      sandbox,
      said: async (script) => {
        const { exitCode, stdout, stderr } = await sandbox.run(shell(script));
        expect([script, exitCode, String(stderr.bytes)]).toEqual([script, 0, expect.any(String)]);
        return String(stdout.bytes).trimEnd();
      },
      collect: (bounds) => sandbox.collect(plan.baseline, { ...plan.bounds, ...bounds }),
    });
  } finally {
    await sandbox.destroy({ kind: "canceled", reason: "done" });
  }
}

const PROJECT = { files: { "a.txt": "1\n2\n3\n", "dir/b.txt": "b\n", link: { link: "dir/b.txt" } } };
const changed = ({ files, deletions }: Collected): string[] => [
  ...files.map(({ path, content }) => `+${path} ${String(content)}`),
  ...deletions.map((path) => `-${path}`),
];

describe.each(["docker", "layers", "bubblewrap"] as const)("git inside a sandbox (%s)", (provider) => {
  it("is what a warm sandbox holds, and is gone where the job wants none", async () => {
    const repo = makeRepo(PROJECT);
    await inside(provider, repo, { held: true }, async ({ said, collect }) => {
      expect(await said("git status --porcelain && git rev-parse HEAD")).toBe(repo.head);
      expect(await said("echo more >> a.txt && git diff --name-only")).toBe("a.txt");
      expect(changed(await collect())).toEqual(["+a.txt 1\n2\n3\nmore\n"]);
    });
    await inside(provider, repo, { held: true, git: false }, async ({ said, collect }) => {
      expect(await said("ls -A")).toBe("a.txt\ndir\nlink");
      expect(changed(await collect())).toEqual([]);
    });
  });

  it("has the true base commit, and status, log, blame, diff, stash and commit work", async () => {
    const repo = makeRepo({
      ...PROJECT,
      commits: [{ message: "second", files: { "a.txt": "1\ntwo\n3\n" } }],
    });
    await inside(provider, repo, {}, async ({ said, collect }) => {
      expect(await said("git rev-parse HEAD")).toBe(repo.head);
      expect(await said("git status --porcelain --branch")).toBe("## main");
      expect(await said("git log --format='%H %s'")).toBe(repo.git("log", "--format=%H %s"));
      expect(await said("git blame -s a.txt")).toBe(repo.git("blame", "-s", "a.txt"));
      expect(await said("echo 4 >> a.txt; git diff --stat")).toContain("1 insertion(+)");
      expect(
        await said("git stash -q && git status --porcelain && git stash pop -q && git status --porcelain"),
      ).toBe(" M a.txt");
      await said("git mv dir/b.txt c.txt && git commit -qam 'my own commit'");
      expect(await said("git log -1 --format='%an %s'")).toBe("Agent my own commit");
      expect(await said("git status --porcelain")).toBe("");
      // The change is what is in the files, committed or not.
      expect(changed(await collect())).toEqual(["+a.txt 1\ntwo\n3\n4\n", "+c.txt b\n", "-dir/b.txt"]);
    });
  });

  it("reads no file of the tree for a status: each has the time that the index expects", async () => {
    const repo = makeRepo({ files: { ...PROJECT.files, ...manyFiles(200) } });
    await inside(provider, repo, {}, async ({ said }) => {
      // Content of the same size that the index cannot know about.
      await said("printf '3\\n2\\n1\\n' > a.txt && touch -d @946684800 a.txt");
      expect(await said("git status --porcelain")).toBe("");
      await said("touch a.txt");
      expect(await said("git status --porcelain")).toBe(" M a.txt");
    });
  });

  it("shows files that are laid over the tree as changed, also when their size is the same", async () => {
    const repo = makeRepo(PROJECT);
    const files = [
      { path: "a.txt", mode: "100644" as const, content: "3\n2\n1\n", encoding: "utf8" as const },
    ];
    await inside(provider, repo, { files, deletions: ["dir/b.txt"] }, async ({ said, collect }) => {
      expect((await said("git status --porcelain")).split("\n").map((line) => line.trim())).toEqual([
        "M a.txt",
        "D dir/b.txt",
      ]);
      expect(changed(await collect())).toEqual([]);
    });
  });

  it("is whatever the attempt makes of it, and nothing of it comes out", async () => {
    const repo = makeRepo(PROJECT);
    await inside(provider, repo, {}, async ({ said, collect }) => {
      await said(
        [
          "chmod -R u+w .git",
          "git config core.fsmonitor 'touch /workspace/sprung'; git config alias.x '!id'",
          "printf '[include]\\n\\tpath = /etc/passwd\\n' >> .git/config",
          "mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch hooked\\n' > .git/hooks/post-commit && chmod +x .git/hooks/*",
          "for f in .git/objects/pack/*.pack; do printf garbage > $f; done",
          "ln -s /etc/passwd .git/leak; mkfifo .git/fifo; ln .git/HEAD .git/second-name",
          "head -c 3000000 /dev/zero > .git/large; for i in $(seq 3000); do : > .git/$i; done",
          "git init -q nested && echo x > nested/file",
          "rm -rf .git/refs; echo changed > a.txt",
        ].join("\n"),
      );
      expect(changed(await collect({ maxFiles: 10, maxBytes: 1000 }))).toEqual([
        "+a.txt changed\n",
        "+nested/file x\n",
      ]);
    });
    // The next sandbox of the same commit has the repository as it was.
    await inside(provider, repo, {}, async ({ said }) => {
      expect(await said("git fsck --full && git status --porcelain && ls .git")).not.toContain("hooks");
    });
  });

  it("brings no program of a hostile repository to life", async () => {
    const repo = makeTrappedRepo();
    await inside(provider, repo, {}, async ({ said }) => {
      expect(
        await said("git status --porcelain; git log --oneline; git diff; git stash list; git remote"),
      ).not.toContain("trap");
      expect(await said("git commit -q --allow-empty -m x && git config --list --show-origin")).not.toMatch(
        /trap|ext::|hooks|include/,
      );
      expect(await said(`grep -rlF ${repo.path} .git || true`)).toBe("");
    });
    expect(repo.sprung()).toEqual([]);
  });
});

describe("a workspace", () => {
  it("has no repository unless the request names one", async () => {
    await inside("docker", makeRepo(PROJECT), { git: false }, async ({ said }) => {
      expect(await said("ls -A; git rev-parse 2>/dev/null || echo none")).toBe("a.txt\ndir\nlink\nnone");
    });
  });

  it("goes without its repository rather than without its files when there is no room for both", async () => {
    const repo = makeRepo(PROJECT);
    await inside("docker", repo, { roomBytes: 300 }, async ({ plan, said }) => {
      expect(plan.git).toBeNull();
      expect(await said("ls -A")).toBe("a.txt\ndir\nlink");
    });
  });
});
