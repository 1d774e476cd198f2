/**
 * Computes the guards: the paths a change may not touch without a grant. Pure: a listing of the base, its texts and the
 * commands decide.
 *
 * In the order in which a verdict names them: tests and their data in the base; files that the check reaches; the places
 * of the table; files that discovery reads; and places where a new file would shadow one of these.
 */
import { DISCOVERED_FROM } from "../inspection/checks.ts";
import { literalGlob } from "../patch/glob.ts";
import type { TreeListing } from "../reach/check-tree.ts";
import { reachedFiles, type Reached, type ReadTexts } from "../reach/reached-files.ts";
import { frameworkShadows } from "./framework-shadows.ts";
import type { Guard } from "./guard.ts";
import { formOf, PROTECTED_PLACES } from "./places.ts";
import { shadows } from "./shadow.ts";
import { isHarness, isTest } from "./side.ts";

export interface ProtectionInput {
  readonly listing: TreeListing;
  readonly read: ReadTexts;
  /** The commands that will decide. */
  readonly checks: readonly string[];
  /** True if the commands were discovered from the repository. Then the files they were discovered from are protected too. */
  readonly discovered: boolean;
}

/** Longer paths cannot be in a patch at all; deeper ones are nobody's sources. Following either would cost time per directory. */
const LONGEST_PATH = 1024;
const DEEPEST_PATH = 100;

export async function protectionOf(input: ProtectionInput): Promise<Guard[]> {
  const { read, checks, discovered } = input;
  const { ordinary, extreme } = byShape(input.listing.paths);
  const listing = { paths: ordinary, links: input.listing.links };
  const tests = listing.paths.filter(isTest);
  const reached = await reachedFiles(listing, read, checks, tests);
  return [
    ...tests.map((path): Guard => ({
      rule: "protected.test",
      glob: literalGlob(path),
      why: "a test or its data",
    })),
    ...reachedGuards(listing, reached),
    ...places(listing, reached),
    ...(discovered ? discovery() : []),
    ...shadows(listing, reached, tests),
    ...frameworkShadows(listing, reached),
    ...[...reached.missing].map(([glob, why]): Guard => ({ rule: "protected.shadow", glob, why })),
    ...extreme.map((path): Guard => ({
      rule: "protected.test",
      glob: literalGlob(path),
      why: "its path is longer or deeper than a check is followed",
    })),
  ];
}

function byShape(paths: readonly string[]): { ordinary: string[]; extreme: string[] } {
  const ordinary: string[] = [];
  const extreme: string[] = [];
  for (const path of paths) (isOrdinary(path) ? ordinary : extreme).push(path);
  return { ordinary, extreme };
}

function isOrdinary(path: string): boolean {
  if (path.length > LONGEST_PATH) return false;
  let depth = 0;
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) depth += 1;
  return depth <= DEEPEST_PATH;
}

function reachedGuards({ paths }: TreeListing, reached: Reached): Guard[] {
  const guards = [...reached.files].map(([path, { as, why }]): Guard =>
    as === "harness"
      ? { rule: "protected.reached", glob: literalGlob(path), why: `the check reaches it: ${why}` }
      : {
          rule: "protected.subject",
          glob: literalGlob(path),
          why: `${path} is run by the check`,
          unless: "proof",
        },
  );
  if (reached.complete) return guards;
  // Names that cannot be followed within the bounds are protected instead (reached-files.ts).
  const why = "the check reaches more than can be followed";
  const named = paths.filter((path) => !reached.files.has(path) && isHarness(path));
  return [
    ...guards,
    ...named.map((path): Guard => ({ rule: "protected.reached", glob: literalGlob(path), why })),
  ];
}

function places({ paths }: TreeListing, { programs }: Reached): Guard[] {
  const running = [...programs];
  return PROTECTED_PLACES.flatMap(({ what, globs: patterns, when, existing, loaded }) => {
    if (when !== "always" && !running.some((program) => when.test(program))) return [];
    const globs = Object.keys(patterns);
    const load = loaded === true ? { loaded } : {};
    if (existing !== true)
      return globs.map((glob): Guard => ({ rule: "protected.place", glob, why: what, ...load }));
    const form = formOf(globs);
    return paths
      .filter((path) => form.test(path))
      .map((path): Guard => ({ rule: "protected.place", glob: literalGlob(path), why: what }));
  });
}

function discovery(): Guard[] {
  const why = "the check of a run that names none is found from it";
  return DISCOVERED_FROM.map((path): Guard => ({
    rule: "protected.discovery",
    glob: literalGlob(path),
    why,
  }));
}
