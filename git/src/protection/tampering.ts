/**
 * What code under test did to the files that judge it, while the check ran. Pure.
 *
 * A source that overwrites the next test file when it is imported is not in the diff. So the protected files are compared
 * again after the check: one that is different, missing, or was written and put back counts, and so does a new file in a
 * place from which the check loads. Other new files are left alone, because builds make them.
 */
import { closingMatcher, pathMatcher } from "../patch/glob.ts";
import { foldedPath } from "../patch/path-rules.ts";
import type { Guard } from "./guard.ts";

export interface WrittenFiles {
  readonly changed: readonly string[];
  readonly restored: readonly string[];
  readonly made: readonly string[];
  /** False if the lists are cut or unknown. */
  readonly complete: boolean;
}

export interface Tampering {
  /** Null: the files could not be compared. */
  readonly path: string | null;
  /** A clause for the verdict. */
  readonly what: string;
}

/** @param grants globs of protected paths that the run may change */
export function tamperings(
  guards: readonly Guard[],
  grants: readonly string[],
  { changed, restored, made, complete }: WrittenFiles,
): Tampering[] {
  const granted = pathMatcher(grants);
  const found = (paths: readonly string[], among: readonly Guard[], what: string): Tampering[] => {
    if (paths.length === 0) return [];
    const any = closingMatcher(among.map(({ glob }) => foldedPath(glob)));
    const hit = paths.filter((path) => any.matches(foldedPath(path)) && !granted.matches(path));
    return hit.map((path) => ({
      path,
      what: `${path} was ${what} while the check ran: ${whyOf(path, among)}`,
    }));
  };
  const judging = guards.filter(({ unless }) => unless !== "proof");
  const loaded = guards.filter((guard) => guard.loaded === true && guard.unless !== "empty");
  return [
    ...found(changed, judging, "changed"),
    ...found(restored, judging, "written and put back"),
    ...found(
      made.filter((path) => !path.endsWith("/")),
      loaded,
      "made",
    ),
    ...(complete ? [] : [{ path: null, what: "the files could not be compared after the check ran" }]),
  ];
}

function whyOf(path: string, guards: readonly Guard[]): string {
  const guard = guards.find(({ glob }) => closingMatcher([foldedPath(glob)]).matches(foldedPath(path)));
  return guard?.why ?? "it is protected";
}

/** Without those that the check also causes on the base, where the change is not. */
export function besides(found: readonly Tampering[], base: readonly Tampering[]): Tampering[] {
  return found.filter(({ path }) => base.every((known) => known.path !== path));
}
