/**
 * Builds the commit of a landing from a verified tree. It does not use `git commit`, so no hook, filter, template or
 * config influences it. The same arguments give the same bytes and therefore the same id, so a retried landing lands
 * once.
 */
import { AntiphonError } from "@antiphon/contracts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { onDisk } from "../disk/disk-fault.ts";
import { DURABLE, flushObjects } from "../disk/durable.ts";
import { gitObject, formatOf, type GitObject } from "../objects/git-object.ts";
import type { GitSettings } from "../process/git-environment.ts";
import { git, runGit } from "../process/git-process.ts";
import { writePack } from "../objects/pack.ts";
import { IDENTITY } from "../objects/root-commit.ts";
import { objectStore, openRepo, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch } from "../repository/scratch.ts";
import { sshSignature, type CommitSigner } from "./ssh-signature.ts";

export interface CommitPlan {
  parent: string;
  tree: string;
  message: string;
  /** For example `Antiphon-Run: run_x`. Keys are written unchanged, in their order. */
  trailers: Readonly<Record<string, string>>;
  /** Time of author and committer, to the second. */
  at: Date;
  /** If absent, the commit is not signed. The same key gives the same bytes. */
  signer?: CommitSigner;
}

export interface NewCommit extends CommitPlan {
  /** The `objects` returned by `applyPatch`, `diffOverlay` or `rebaseOnto`; none if the tree is the parent's. */
  objects?: readonly GitObject[];
}

/** Words that CI services obey in brackets. */
const CI_WORD = /\b(?:ci|cd|skip|actions|azp|deploy|no-ci)\b/i;
const MAX_MESSAGE = 16 * 1024;
/** Same as git's transfer.unpackLimit: fewer objects are written loose, more as a pack. */
const UNPACK_LIMIT = 100;

/** The commit as an object. Pure. */
export function commitObject(plan: CommitPlan): GitObject {
  requireId(plan.parent);
  requireId(plan.tree);
  const seconds = Math.floor(plan.at.getTime() / 1000);
  const trailers = Object.entries(plan.trailers).map(([key, value]) => trailerLine(key, value));
  const format = formatOf(plan.tree);
  const head = [
    `tree ${plan.tree}`,
    `parent ${plan.parent}`,
    `author ${IDENTITY} ${seconds} +0000`,
    `committer ${IDENTITY} ${seconds} +0000`,
  ];
  const body = ["", plainMessage(plan.message), ...(trailers.length === 0 ? [] : ["", ...trailers]), ""];
  const plain = Buffer.from([...head, ...body].join("\n"), "utf8");
  if (plan.signer === undefined) return gitObject(format, "commit", plain);
  const header = format === "sha256" ? "gpgsig-sha256" : "gpgsig";
  const signature = `${header} ${sshSignature(plain, plan.signer).replaceAll("\n", "\n ")}`;
  return gitObject(format, "commit", Buffer.from([...head, signature, ...body].join("\n"), "utf8"));
}

function trailerLine(key: string, value: string): string {
  if (!/^[A-Za-z][A-Za-z0-9-]*$/.test(key) || !/^[\x20-\x7e]{1,1024}$/.test(value)) {
    throw new AntiphonError(
      "ANT_GIT_ARGUMENT",
      `not a trailer: ${JSON.stringify(`${key}: ${value}`).slice(0, 200)}`,
    );
  }
  return `${key}: ${value}`;
}

/**
 * An agent wrote the message. It is bounded and has no control characters; no line of it can pass for a trailer, and no
 * word of it for a command to a CI service (`[skip ci]`, `***NO_CI***`, `skip-checks: true`).
 */
function plainMessage(message: string): string {
  const plain = message
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/^[ \t]*([a-z]{1,40}(?:-[a-z]{1,40}){1,8}[ \t]{0,8}:)/gim, "> $1")
    .replace(/\[([^[\]\n]{0,40})\]/g, (whole, words: string) => (CI_WORD.test(words) ? `(${words})` : whole))
    .replace(/\*{3}/g, "* * *")
    .slice(0, MAX_MESSAGE)
    .trim();
  return plain === "" ? "Antiphon change" : plain;
}

/**
 * Writes the commit and its new objects into the repository's object store, flushed to disk. No ref moves: a crash
 * afterwards leaves unreachable objects, which a retry finds and git's own gc removes. Two processes (three for a
 * repository given as a path).
 *
 * `--strict` makes git check every new object and the presence of every object they refer to.
 * @returns the commit's id
 */
export async function buildCommit(repo: RepoLike, commit: NewCommit): Promise<string> {
  const opened = await openRepo(repo);
  const made = commitObject(commit);
  const objects = [...(commit.objects ?? []), made];
  const shared = await sharedRepository(opened);
  await withScratch(objectStore(opened), async (scratch) => {
    const large = objects.length >= UNPACK_LIMIT;
    await git({
      gitDir: scratch.gitDir,
      objectsDir: opened.objectsDir,
      args: large ? ["index-pack", "--stdin", "--strict"] : ["unpack-objects", "-q", "--strict"],
      stdin: writePack(opened.format, objects, large ? "deflated" : "stored"),
      settings: [...DURABLE, ...shared],
    });
  });
  await flushObjects(
    opened,
    objects.map(({ id }) => id),
  );
  return made.id;
}

/** Without one of these words in it, a config cannot set core.sharedRepository, and git need not be asked. */
const MAY_SHARE = /sharedrepository|include|worktreeconfig/i;

/** core.sharedRepository sets the permissions of files that a group shares. It is the only user setting kept here. */
async function sharedRepository(repo: Repo): Promise<GitSettings> {
  const config = await onDisk(() => readFile(join(repo.commonDir, "config"), "latin1"));
  if (!MAY_SHARE.test(config)) return [];
  const call = { gitDir: repo.commonDir, args: ["config", "--get", "core.sharedRepository"] };
  const value = (await runGit(call)).stdout.toString("latin1").trim();
  return /^[A-Za-z0-9]{1,16}$/.test(value) ? [["core.sharedRepository", value]] : [];
}
