/** What a change is beside its diff: the files as they are afterwards, and the paths that are gone. */
import type { GitObject } from "../objects/git-object.ts";
import { writeTar } from "../trees/tar.ts";

export interface OverlayFile {
  path: string;
  mode: "100644" | "100755";
  content: Buffer;
}

/** A tree that no ref points to yet, with all that is needed to put it in a sandbox or into a commit. */
export interface ChangedTree {
  tree: string;
  /** Every object of `tree` that the tree it was made from does not have: what a commit of it must bring. */
  objects: GitObject[];
  /** Changed and new files, in git's order. */
  overlay: OverlayFile[];
  deletions: string[];
}

/** The overlay in canonical form, as a sandbox takes it; null when the change only deletes. */
export function overlayTar(overlay: readonly OverlayFile[]): Buffer | null {
  return overlay.length === 0 ? null : writeTar(overlay);
}
