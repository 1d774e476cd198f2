import { AntiphonError } from "@antiphon/contracts";
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
