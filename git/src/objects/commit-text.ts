/** Reads commits as `cat-file` writes them, with the trailers of their messages. */
import { git } from "../process/git-process.ts";
import type { Repo } from "../repository/repo.ts";
import { isObjectId } from "./git-object.ts";
import { requireId } from "../repository/scratch.ts";

interface CommitText {
  id: string;
  tree: string;
  parents: string[];
  /** Without the trailers. */
  message: string;
  trailers: Record<string, string>;
  at: Date;
}

/** One process for any number of commits. */
export async function readCommits(repo: Repo, ids: readonly string[]): Promise<CommitText[]> {
  if (ids.length === 0) return [];
  const bytes = await git({
    gitDir: repo.commonDir,
    args: ["cat-file", "--batch"],
    stdin: `${ids.map(requireId).join("\n")}\n`,
  });
  const commits: CommitText[] = [];
  for (let at = 0; at < bytes.length;) {
    const lineEnd = bytes.indexOf(10, at);
    const [id = "", kind, size] = bytes.toString("latin1", at, lineEnd).split(" ");
    const end = lineEnd + 1 + Number(size ?? 0);
    if (kind === "commit") commits.push(parseCommit(id, bytes.toString("utf8", lineEnd + 1, end)));
    at = size === undefined ? lineEnd + 1 : end + 1;
  }
  return commits;
}

/** A commit and those below it by first parents, newest first. */
export async function newestCommits(repo: Repo, commit: string, most: number): Promise<CommitText[]> {
  const listing = await git({
    gitDir: repo.commonDir,
    args: ["rev-list", "--first-parent", `--max-count=${most}`, requireId(commit), "--"],
  });
  return readCommits(repo, listing.toString("latin1").split("\n").filter(isObjectId));
}

/** A commit as `cat-file` gives it. Pure. */
export function parseCommit(id: string, text: string): CommitText {
  const gap = text.indexOf("\n\n");
  const head = text.slice(0, gap).split("\n");
  const values = (key: string): string[] =>
    head.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const paragraphs = text
    .slice(gap + 2)
    .trimEnd()
    .split(/\n{2,}/);
  const last = (paragraphs.at(-1) ?? "").split("\n");
  const forms = last.map((line) => /^([A-Za-z][A-Za-z0-9-]*): (.+)$/.exec(line));
  const isBlock = paragraphs.length > 1 && forms.every((form) => form !== null);
  const trailers: Record<string, string> = {};
  if (isBlock) for (const form of forms) if (form !== null) trailers[form[1] ?? ""] = form[2] ?? "";
  const seconds = / (\d+) [+-]\d{4}$/.exec(values("committer")[0] ?? "");
  return {
    id,
    tree: values("tree")[0] ?? "",
    parents: values("parent"),
    message: (isBlock ? paragraphs.slice(0, -1) : paragraphs).join("\n\n"),
    trailers,
    at: new Date(Number(seconds?.[1] ?? 0) * 1000),
  };
}
