/** Which sources of the repository a change leaves and removes. Pure. */
import { besideSources, onlyRemovesSources, onlySources, sourcesLeft } from "@antiphon/git";
import type { AppliedChange } from "../ports.ts";

export interface Touched {
  /** Sources that the change leaves in the tree. */
  readonly sources: readonly string[];
  /** Files that judge these sources, as the tests that the change edits. Without sources: none. */
  readonly beside: readonly string[];
  /** Nothing else is in the change but documents: only a source itself can bring tests. */
  readonly alone: boolean;
  /** It does nothing but remove files, sources among them. */
  readonly removes: boolean;
}

export function touchedBy(change: AppliedChange | null): Touched {
  if (change === null) return { sources: [], beside: [], alone: false, removes: false };
  const { files } = change;
  const textOf = textsOf(change);
  const [sources, alone] = [sourcesLeft(files, textOf), onlySources(files, textOf)];
  const beside = sources.length === 0 ? [] : besideSources(files, textOf);
  return { sources, beside, alone, removes: onlyRemovesSources(files) };
}

/** The content that a change gives a file. */
export function textsOf({ candidate }: AppliedChange): (path: string) => string {
  const texts = new Map(candidate.overlay.map(({ path, content }) => [path, content]));
  return (path) => texts.get(path)?.toString("latin1") ?? "";
}
