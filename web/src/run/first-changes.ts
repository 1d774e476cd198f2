// The first lines of the hunks of a file, since a page that draws all lines of a very long diff stands still. Pure.
import type { HunkData } from "react-diff-view";

export function firstChanges(hunks: readonly HunkData[], count: number): HunkData[] {
  const first: HunkData[] = [];
  let left = count;
  for (const hunk of hunks) {
    if (left <= 0) break;
    first.push(hunk.changes.length <= left ? hunk : { ...hunk, changes: hunk.changes.slice(0, left) });
    left -= hunk.changes.length;
  }
  return first;
}
