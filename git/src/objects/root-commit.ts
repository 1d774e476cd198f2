/** A commit without a parent, as the pack of its objects. Pure: the same files and time give the same bytes. */
import { gitObject, treeObject, type GitObject } from "./git-object.ts";
import { writePack } from "./pack.ts";

/** Author and committer of what Antiphon makes. */
export const IDENTITY = "Antiphon <antiphon@localhost>";

export interface RootCommit {
  readonly commit: string;
  readonly pack: Buffer;
}

/** `files`: texts by name, at the root of the tree. */
export function rootCommit(files: Readonly<Record<string, string>>, message: string, at: Date): RootCommit {
  const blobs = Object.entries(files).map(
    ([name, text]) => [name, gitObject("sha1", "blob", Buffer.from(text))] as const,
  );
  const tree = treeObject(
    "sha1",
    blobs.map(([name, { id }]) => [name, "100644", id]),
  );
  const time = `${IDENTITY} ${Math.floor(at.getTime() / 1000)} +0000`;
  const text = [`tree ${tree.id}`, `author ${time}`, `committer ${time}`, "", message, ""].join("\n");
  const commit = gitObject("sha1", "commit", Buffer.from(text));
  const objects = new Map<string, GitObject>(
    [...blobs.map(([, blob]) => blob), tree, commit].map((one) => [one.id, one]),
  );
  return { commit: commit.id, pack: writePack("sha1", [...objects.values()], "deflated") };
}
