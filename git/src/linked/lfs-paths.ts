/** Finds the paths that a tree's `.gitattributes` hand to Git LFS. Its filter itself is never run (git/G1). */
import { type TreeEntry } from "../objects/git-object.ts";
import { decodePath, encodePath } from "../objects/git-path.ts";
import { idsUpTo, readObjects } from "../objects/objects.ts";
import type { Scratch } from "../repository/scratch.ts";

const MAX_ATTRIBUTES_BYTES = 512 * 1024;

/** No process for a tree without attributes, one for a tree without LFS, four for others. */
export async function lfsPaths(
  scratch: Scratch,
  treeish: string,
  entries: readonly TreeEntry[],
  paths: readonly string[],
): Promise<Set<string>> {
  if (paths.length === 0 || !(await mentionsLfs(scratch, entries))) return new Set();
  const indexFile = `${scratch.indexFile}-attributes`;
  await scratch.git({ args: ["read-tree", treeish], indexFile });
  const listing = await scratch.git({
    args: ["check-attr", "-z", "--cached", "--stdin", "filter"],
    indexFile,
    stdin: Buffer.concat(paths.flatMap((path) => [encodePath(path), Buffer.from([0])])),
  });
  return parseAttributes(listing);
}

async function mentionsLfs(scratch: Scratch, entries: readonly TreeEntry[]): Promise<boolean> {
  const files = entries.filter(({ path, mode }) => mode.startsWith("100") && isAttributesFile(path));
  if (files.length === 0) return false;
  const run = scratch.git.bind(scratch);
  const small = await idsUpTo(
    run,
    files.map(({ id }) => id),
    MAX_ATTRIBUTES_BYTES,
  );
  const read = await readObjects(run, small, MAX_ATTRIBUTES_BYTES * small.size);
  return [...read.values()].some(({ body }) => body.includes("filter=lfs"));
}

/** Whether a tree gives attributes to its files. */
export function hasAttributes(entries: readonly TreeEntry[]): boolean {
  return entries.some(({ path }) => isAttributesFile(path));
}

function isAttributesFile(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

/** `<path> NUL filter NUL <value> NUL` */
function parseAttributes(listing: Buffer): Set<string> {
  const paths = new Set<string>();
  const fields: Buffer[] = [];
  for (let at = 0, end = listing.indexOf(0); end !== -1; at = end + 1, end = listing.indexOf(0, at)) {
    fields.push(listing.subarray(at, end));
  }
  for (let i = 0; i + 2 < fields.length; i += 3) {
    if (fields[i + 2]?.toString("latin1") === "lfs") paths.add(decodePath(fields[i] as Buffer));
  }
  return paths;
}
