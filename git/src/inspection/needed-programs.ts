/**
 * Finds which programs beside those of the standard image a repository needs, by the manifests in its root or one
 * directory below. Pure: works on the bytes of `git ls-tree -r -z`, so that a tree of 100,000 files costs one search.
 */
export interface NeededPrograms {
  /** Sorted. */
  readonly programs: readonly string[];
  /** The file that decided, for each toolchain that was found. */
  readonly because: readonly string[];
}

interface Mark {
  /** The path of a file, after the tab that ends its facts. */
  readonly file: RegExp;
  readonly programs: readonly string[];
}

/** Nothing, or the name of one directory that is not hidden. */
const PLACE = String.raw`(?:[A-Za-z0-9][A-Za-z0-9_-]{0,63}/)?`;
const named = (name: string): RegExp => new RegExp(String.raw`\t(${PLACE}${name})\0`);

const MARKS: readonly Mark[] = [
  { file: named(String.raw`go\.mod`), programs: ["go"] },
  { file: named(String.raw`Cargo\.toml`), programs: ["cargo"] },
  { file: named(String.raw`pom\.xml`), programs: ["java", "mvn"] },
  { file: /\t((?:settings|build)\.gradle(?:\.kts)?)\0/, programs: ["java"] },
  { file: /\t((?:Gemfile|gems\.rb|Rakefile|[A-Za-z0-9_-]{1,64}\.gemspec))\0/, programs: ["ruby"] },
  { file: /\t(Gemfile)\0/, programs: ["bundle"] },
  { file: /\t((?:composer\.json|phpunit\.xml(?:\.dist)?))\0/, programs: ["php"] },
  { file: /\t(composer\.json)\0/, programs: ["composer"] },
  { file: /\t(CMakeLists\.txt)\0/, programs: ["cmake", "g++"] },
];

/** Manifests lie at the start of few names, so what a large tree holds besides is searched once for each mark. */
export function neededPrograms(listing: Buffer): NeededPrograms {
  const text = listing.toString("latin1");
  const programs = new Set<string>();
  const because = new Set<string>();
  for (const mark of MARKS) {
    const path = mark.file.exec(text)?.[1];
    if (path === undefined) continue;
    because.add(path);
    for (const program of mark.programs) programs.add(program);
  }
  return { programs: [...programs].sort(), because: [...because] };
}
