/**
 * The commit a landing is made of: built by us from a tree that was verified, never by `git commit`, so no hook,
 * filter, template or config has a say (L2). The same arguments give the same bytes and so the same id, which is
 * what makes a retried landing land once (J8).
 */
import { AntiphonError } from "@antiphon/contracts";
import { DURABLE, flushObjects } from "../disk/durable.ts";
import { gitObject, formatOf, type GitObject } from "../objects/git-object.ts";
import type { GitSettings } from "../process/git-environment.ts";
import { git, runGit } from "../process/git-process.ts";
import { writePack } from "../objects/pack.ts";
import { objectStore, openRepo, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch } from "../repository/scratch.ts";
import { sshSignature, type CommitSigner } from "./ssh-signature.ts";

export interface CommitPlan {
  parent: string;
  tree: string;
  message: string;
  /** As `Antiphon-Run: run_x`; the keys are used as they are, in their order. */
  trailers: Readonly<Record<string, string>>;
  /** Author's and committer's time, to the second. */
  at: Date;
  /** Absent: the commit is not signed. The same key gives the same bytes. */
  signer?: CommitSigner;
}

export interface NewCommit extends CommitPlan {
  /** What `applyPatch`, `diffOverlay` or `rebaseOnto` answered as `objects`; nothing for the parent's own tree. */
  objects?: readonly GitObject[];
}

const IDENTITY = "Antiphon <antiphon@localhost>";
/** What services that build commits look for in brackets. */
const CI_WORD = /\b(?:ci|cd|skip|actions|azp|deploy|no-ci)\b/i;
const MAX_MESSAGE = 16 * 1024;
/** As git's own transfer.unpackLimit: below it loose objects, from it a pack. */
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
 * A message comes from an agent: bounded, without control characters, and no line of it can pass for a trailer, nor a word
 * for a command to whoever builds what lands (`[skip ci]`, `***NO_CI***`, `skip-checks: true`).
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
 * Puts the commit and its new objects into the repository's object store, safe from a power cut, and moves no ref: a
 * crash after it leaves unreachable objects, which a retry finds and git's own gc removes. Two processes (three for a
 * repository given as a path).
 *
 * `--strict` makes git check every new object, and that every object they refer to is there.
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

/** A repository that a group shares says how its files are to be readable; the one setting of it that we keep. */
async function sharedRepository(repo: Repo): Promise<GitSettings> {
  const call = { gitDir: repo.commonDir, args: ["config", "--get", "core.sharedRepository"] };
  const value = (await runGit(call)).stdout.toString("latin1").trim();
  return /^[A-Za-z0-9]{1,16}$/.test(value) ? [["core.sharedRepository", value]] : [];
}
