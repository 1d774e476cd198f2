/** A change beside its diff: the resulting files and the deleted paths. */
import type { GitObject } from "../objects/git-object.ts";
import { writeTar } from "../trees/tar-writer.ts";

export interface OverlayFile {
  path: string;
  mode: "100644" | "100755";
  content: Buffer;
}

/** A tree that no ref points to yet, with everything needed to put it in a sandbox or a commit. */
export interface ChangedTree {
  tree: string;
  /** Every object of `tree` that its base tree lacks. A commit of the tree must bring these. */
  objects: GitObject[];
  /** Changed and new files, in git's order. */
  overlay: OverlayFile[];
  deletions: string[];
}

/** The overlay as the canonical tar that a sandbox takes; null when the change only deletes. */
export function overlayTar(overlay: readonly OverlayFile[]): Buffer | null {
  return overlay.length === 0 ? null : writeTar(overlay);
}
