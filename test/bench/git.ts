/**
 * Measures git operations on repositories of 1,000 and 5,000 files: median and worst of ten rounds, after two to
 * warm up. It does not measure a cold disk cache, a large history, or a repository under load.
 */
import { spawn } from "node:child_process";
import {
  applyPatch,
  buildCommit,
  checkPatch,
  diffOverlay,
  inspectRepo,
  landRef,
  openRepo,
  TreeCache,
} from "@antiphon/git";
import { cleanUpRepos, makeRepo, manyFiles, tempDir, type TestRepo } from "../support/repo.ts";
import { exportedTree } from "../support/exported-tree.ts";

const ROUNDS = 10;
const WARM_UP = 2;
const AT = new Date("2026-01-01T00:00:00Z");

async function measure(
  label: string,
  goal: string,
  body: (round: number) => Promise<unknown>,
): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    const start = performance.now();
    await body(round);
    if (round >= WARM_UP) times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)] ?? 0;
  const row = [
    label.padEnd(44),
    middle.toFixed(1).padStart(8),
    (times.at(-1) ?? 0).toFixed(1).padStart(8),
    goal,
  ];
  console.log(row.join("  "));
}

/** The machine's speed at the moment, as a reference for the other rows. */
function plainGit(cwd: string, ...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", ["-c", "safe.directory=*", ...args], {
      cwd,
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.resume();
    child.on("error", reject).on("close", () => resolve());
  });
}

async function bench(count: number, exportGoal: string): Promise<void> {
  const repo: TestRepo = makeRepo({ files: manyFiles(count) });
  const loose = makeRepo({ files: manyFiles(count) });
  repo.git("gc", "-q");
  const opened = await openRepo(repo.path);
  console.log(`\n${count} files (ms)`.padEnd(46), "    p50", "    max", " goal");
  await measure("(yardstick: a plain `git version`)", "", () => plainGit(repo.path, "version"));
  await measure("(yardstick: a plain `git archive`)", "", () => plainGit(repo.path, "archive", repo.head));
  await measure("inspectRepo", "", () => inspectRepo(repo.path));
  await measure("exportTree", exportGoal, () => exportedTree(repo.path, repo.head));
  await measure("all objects loose", "", () => exportedTree(loose.path, loose.head));
  const exported = await exportedTree(repo.path, repo.head);
  await measure("importTree (new)", "", () =>
    new TreeCache(tempDir()).importTree(exported.tree, exported.tar),
  );
  const cache = new TreeCache(tempDir());
  await cache.importTree(exported.tree, exported.tar);
  await measure("importTree (cached)", "", () => cache.importTree(exported.tree, exported.tar));
  const listing = await cache.list(exported.tree);
  const files = listing.slice(0, 10).map((entry) => ({
    path: entry.path,
    mode: "100644" as const,
    content: Buffer.from(`// changed ${entry.id}\n`),
  }));
  const overlay = { files, deletions: [listing[20]?.path ?? ""] };
  await measure("diffOverlay, 10 changed, 1 deleted", "", () => diffOverlay(cache, exported.tree, overlay));
  const diff = await diffOverlay(cache, exported.tree, overlay);
  await measure("checkPatch", "", async () => checkPatch(diff.patch));
  await measure("applyPatch", "", () => applyPatch(opened, repo.head, diff.patch));
  const applied = await applyPatch(opened, repo.head, diff.patch);
  const plan = { parent: repo.head, tree: applied.tree, objects: applied.objects, trailers: {}, at: AT };
  const land = async (round: number): Promise<void> => {
    const commit = await buildCommit(opened, { ...plan, message: `round ${round}` });
    await landRef(opened, `refs/heads/antiphon/run_${round}`, commit, null);
  };
  await measure("buildCommit + landRef (flushed to disk)", "", land);
}

export async function run(): Promise<void> {
  try {
    await bench(1000, "<= 60");
    await bench(5000, "<= 250");
  } finally {
    cleanUpRepos();
  }
}
