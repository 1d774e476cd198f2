/**
 * A landing on a disk that is full, read-only or broken: it waits at whatever operation the fault begins, says so, and
 * happens once when the disk works again.
 */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  applyPatch,
  buildCommit,
  diffOverlay,
  landRef,
  replayCommits,
  treeOf,
  updateWorktree,
} from "@antiphon/git";
import { mountPowerDisk, type DiskFault, type PowerDisk } from "../../chaos/power-loss/power-disk.ts";
import { sized } from "../../support/night.ts";
import { patient } from "../../support/patience.ts";
import { cleanUpRepos, makeRepo, rawGit } from "../../support/repo.ts";

const AT = new Date("2026-02-03T04:05:06Z");
const TRAILERS = { "Antiphon-Run": "run_x", "Antiphon-Task": "T-001", "Antiphon-Epoch": "1" };
const REF = "refs/heads/antiphon/run_x";
/** More operations than any step needs. */
const MOST = 1_000;

const disks: PowerDisk[] = [];

afterEach(async () => {
  for (const disk of disks.splice(0)) await disk.remove();
  cleanUpRepos();
});

interface OnDisk {
  disk: PowerDisk;
  path: string;
  head: string;
}

async function repoOnDisk(): Promise<OnDisk> {
  const disk = await mountPowerDisk({ mebibytes: 64 });
  disks.push(disk);
  const made = makeRepo({ files: { "src/a.txt": "a\n", "b.txt": "b\n" } });
  const path = join(disk.path, "repo");
  cpSync(made.path, path, { recursive: true, preserveTimestamps: true });
  rawGit(path, "status"); // Its index knows the files by their places on this disk.
  return { disk, path, head: made.head };
}

/** A commit on `parent` whose objects are not in the repository yet. */
async function planned(path: string, parent: string, name: string) {
  const files = [{ path: name, mode: "100644" as const, content: Buffer.from(`${name} changed\n`) }];
  const { patch } = await diffOverlay(path, await treeOf(path, parent), { files, deletions: [] });
  const { tree, objects } = await applyPatch(path, parent, patch);
  return { parent, tree, objects, message: `Change ${name}`, trailers: TRAILERS, at: AT };
}

/** Git cannot remove its lock on a disk that it cannot write to; a person does, or for a run's branch its age. */
function removeLocks(path: string): void {
  const gitDir = join(path, ".git");
  for (const name of readdirSync(gitDir, { recursive: true, encoding: "utf8" }))
    if (name.endsWith(".lock")) rmSync(join(gitDir, name));
}

interface Prepared {
  carryOut: () => Promise<unknown>;
  outcome: object;
  /** What holds once it was carried out. */
  settled?: () => void;
}

interface Step {
  name: string;
  /** Prepares a repository, and gives the step to carry out on it and its outcome on a sound disk. */
  prepare: (repo: OnDisk) => Promise<Prepared>;
}

const STEPS: readonly Step[] = [
  {
    name: "building the commit",
    async prepare({ path, head }) {
      const commit = await planned(path, head, "src/a.txt");
      return {
        carryOut: async () => ({ built: await buildCommit(path, commit) }),
        outcome: { built: expect.stringMatching(/^[0-9a-f]{40}$/) as string },
      };
    },
  },
  {
    name: "the first landing on the run's branch",
    async prepare({ path, head }) {
      const commit = await buildCommit(path, await planned(path, head, "src/a.txt"));
      const outcome = { kind: expect.stringMatching(/^(landed|already)$/) as string, actual: commit };
      return { carryOut: () => landRef(path, REF, commit, null), outcome };
    },
  },
  {
    name: "a later landing",
    async prepare({ path, head }) {
      const commit = await buildCommit(path, await planned(path, head, "src/a.txt"));
      const outcome = { kind: expect.stringMatching(/^(landed|already)$/) as string, actual: commit };
      return { carryOut: () => landRef(path, "refs/heads/main", commit, head), outcome };
    },
  },
  {
    name: "bringing up the files",
    async prepare({ path, head }) {
      const commit = await buildCommit(path, await planned(path, head, "src/a.txt"));
      await landRef(path, "refs/heads/main", commit, head);
      const move = { ref: "refs/heads/main", from: head, to: commit };
      return {
        carryOut: () => updateWorktree(path, move),
        // Refused: git left a file half written, which nobody can tell from a local edit.
        outcome: { kind: expect.stringMatching(/^(updated|unchanged|refused)$/) as string },
        settled: () => {
          const left = rawGit(path, "status", "--porcelain").split("\n").filter(Boolean);
          expect(left.every((line) => line.endsWith("src/a.txt"))).toBe(true);
          rawGit(path, "reset", "-q", "--hard");
          expect(rawGit(path, "rev-parse", "HEAD")).toBe(commit);
        },
      };
    },
  },
  {
    name: "replaying the run's commits",
    async prepare({ path, head }) {
      const to = await buildCommit(path, await planned(path, head, "src/a.txt"));
      const onto = await buildCommit(path, await planned(path, head, "b.txt"));
      return {
        carryOut: () => replayCommits(path, { from: head, to, onto }),
        outcome: { kind: "replayed" },
      };
    },
  },
];

const FAULTS: readonly DiskFault[] = [
  { with: "ENOSPC" },
  { with: "EDQUOT" },
  { with: "EROFS" },
  { with: "EIO" },
  { with: "EIO", reads: true },
];

/** A disk that cannot read fails each step at ten times as many places; one step shows it for each push. */
const stepsOn = ({ reads }: DiskFault): readonly Step[] =>
  STEPS.slice(0, reads === true ? sized(1, STEPS.length) : STEPS.length);

/** Both are retried. */
const WAITS = { code: expect.stringMatching(/^ANT_(GIT_INTERRUPTED|LANDING_REF_LOCKED)$/) as string };

describe.each(FAULTS)("a disk with %j", (fault) => {
  it.each(stepsOn(fault))(
    "git/G2: $name waits for it, wherever it begins",
    { timeout: patient(180_000) },
    async ({ prepare }) => {
      const { disk, ...repo } = await repoOnDisk();
      const { carryOut, outcome, settled } = await prepare({ disk, ...repo });
      let ended: unknown;
      let after = 0;
      for (; after < MOST; after += 1) {
        await disk.fail({ ...fault, after });
        ended = await carryOut().catch((error: unknown) => error);
        await disk.fail(null);
        if (!(ended instanceof Error)) break;
        expect(ended, `after ${after} operations: ${ended.message}`).toMatchObject(WAITS);
        removeLocks(repo.path);
      }
      expect(after).toBeGreaterThan(0);
      expect(ended).toMatchObject(outcome);
      settled?.();
      expect(await carryOut()).toMatchObject(outcome);
      expect(rawGit(repo.path, "fsck", "--strict", "--full", "--no-dangling")).toBe("");
    },
  );
});
