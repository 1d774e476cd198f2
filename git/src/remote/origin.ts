/** The remote that a local repository calls `origin`, and the way of a local commit to the copy of that remote. */
import { isAbsolute, resolve } from "node:path";
import { isObjectId } from "../objects/git-object.ts";
import { git, runGit } from "../process/git-process.ts";
import { objectStore, type Repo } from "../repository/repo.ts";
import { requireId, withScratch } from "../repository/scratch.ts";
import { unpackInto } from "./push.ts";

/** The URL of `origin`; a path becomes a file URL. Null: the repository has no such remote. */
export async function originOf(repo: Repo): Promise<string | null> {
  const call = { gitDir: repo.commonDir, args: ["config", "--get", "remote.origin.url"] };
  const text = (await runGit(call)).stdout.toString("utf8").trim();
  return text === "" ? null : urlOf(text, repo.top);
}

function urlOf(text: string, top: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text;
  // `host:path`, unless a slash comes before the colon.
  const short = /^((?:[^/:@]+@)?[^/:]+):(.+)$/.exec(text);
  if (short !== null) return `ssh://${short[1]}/${(short[2] ?? "").replace(/^\/+/, "")}`;
  return `file://${isAbsolute(text) ? text : resolve(top, text)}`;
}

/**
 * Copies a commit with everything that `to` lacks. The user's configuration has no say: the objects are packed by a
 * scratch repository. Three processes.
 */
export async function copyCommit(from: Repo, to: Repo, commit: string): Promise<void> {
  const refs = await git({ gitDir: to.commonDir, args: ["for-each-ref", "--format=%(objectname)"] });
  const known = [...new Set(refs.toString("latin1").split("\n").filter(isObjectId))];
  const pack = await withScratch(objectStore(from), async (scratch) => {
    const listing = await scratch.git({
      args: ["cat-file", "--batch-check"],
      stdin: known.map((id) => `${id}\n`).join(""),
    });
    const shared = listing
      .toString("latin1")
      .split("\n")
      .flatMap((line) => (/^([0-9a-f]+) (?:commit|tag) /.exec(line) ?? []).slice(1));
    const stdin = [requireId(commit), ...shared.map((id) => `^${id}`)].map((line) => `${line}\n`).join("");
    return scratch.git({ args: ["pack-objects", "--revs", "--stdout", "--quiet"], stdin });
  });
  await unpackInto(to, pack);
}
