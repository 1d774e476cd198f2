/** Finds the packages of this repository that a test imports. */
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

/** The workspaces that are not services. */
const LIBRARIES = ["contracts", "run", "git", "runtime", "cli"];
/** Whose promises a test may name beside those of its own package: what a service decides by has a package to itself. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  run: ["services/director"],
  "services/director": ["run"],
  "services/gateway": ["run"],
  cli: ["run"],
  runtime: ["git"],
};

/** The package of a file, such as `runtime` or `services/router`; null if it is in none. */
export function packageOf(path: string): string | null {
  return /^(?:contracts|run|git|runtime|cli|services\/[^/]+)(?=\/)/.exec(path)?.[0] ?? null;
}

/**
 * The packages a test imports from, itself or through the files it shares with other tests; nearest first.
 * `test` is relative to `root`, with forward slashes.
 */
export function packagesOf(root: string, test: string): string[] {
  const own = packageOf(test);
  if (own !== null) return [own, ...(BESIDE[own] ?? [])];
  const packages = new Set<string>();
  const seen = new Set([test]);
  // A Set iterates in insertion order and includes items added meanwhile, so this is breadth first.
  for (const file of seen) {
    for (const path of importsOf(root, file)) {
      const found = packageOf(path);
      if (found !== null) packages.add(found);
      else if (existsSync(join(root, path))) seen.add(path);
    }
  }
  return [...new Set([...packages].flatMap((name) => [name, ...(BESIDE[name] ?? [])]))];
}

function importsOf(root: string, file: string): string[] {
  const source = readFileSync(join(root, file), "utf8");
  return [...source.matchAll(IMPORT)].flatMap(([, name = ""]) => {
    if (name.startsWith(".")) return [posix.join(posix.dirname(file), name)];
    const ours = /^@antiphon\/([^/]+)/.exec(name)?.[1];
    if (ours === undefined) return [];
    return [LIBRARIES.includes(ours) ? `${ours}/` : `services/${ours}/`];
  });
}
