import { AntiphonError } from "@antiphon/contracts";
import { quotePath } from "../objects/git-path.ts";
import { PATH_FAULTS, pathFault } from "./path-fault.ts";
import type { TreeEntry } from "../objects/git-object.ts";

/** A handmade tree can hold names that git never checks out. An archive of them would write outside its directory. */
const NEVER_A_NAME = /(^|\/)(\.{0,2}|\.git)(\/|$)/i;

/** @throws AntiphonError ANT_REPO_UNREADABLE */
export function requirePlainNames(entries: readonly TreeEntry[]): void {
  const odd = entries.find((entry) => NEVER_A_NAME.test(entry.path));
  if (odd === undefined) return;
  const told = `its tree has a path no file can have: ${JSON.stringify(odd.path)}`;
  throw new AntiphonError("ANT_REPO_UNREADABLE", told);
}

/** Names the first path that no sandbox can hold as git does. @throws AntiphonError ANT_REPO_FILE_NAME */
export function requireHeldNames(paths: readonly string[]): void {
  for (const path of paths) {
    const fault = pathFault(path);
    if (fault === null) continue;
    const told = `the commit has ${PATH_FAULTS[fault]}: ${quotePath(path.slice(0, 200))}`;
    throw new AntiphonError("ANT_REPO_FILE_NAME", told);
  }
}
