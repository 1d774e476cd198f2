/** The base tree as a check sees it under /workspace: resolves names from a directory, through tracked links. Pure. */
import { pathMatcher } from "../patch/glob.ts";

/** The paths of a commit. Submodules are left out. */
export interface TreeListing {
  readonly paths: readonly string[];
  /** Path of a tracked symbolic link -> its target as written. */
  readonly links: ReadonlyMap<string, string>;
}

/** Placeholder in a word for text that is known only when the check runs. */
export const UNKNOWN = "\0";

/** Where the clean room mounts the tree. */
const ROOT = "/workspace";
const MAX_HOPS = 20;
const MAX_MATCHES = 500;
const MAX_GLOBS = 200;

export class CheckTree {
  readonly paths: readonly string[];
  readonly links: ReadonlyMap<string, string>;
  readonly #files: ReadonlySet<string>;
  readonly #directories = new Set<string>([""]);
  #globs = 0;

  constructor({ paths, links }: TreeListing) {
    this.paths = paths;
    this.links = links;
    this.#files = new Set(paths);
    for (const path of paths) {
      for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
        if (this.#directories.has(path.slice(0, at))) break;
        this.#directories.add(path.slice(0, at));
      }
    }
  }

  /** True if exactly this path is a regular file or a link. */
  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** The regular file that a word names from a directory; null if the tree has none. */
  file(dir: string, word: string): string | null {
    const path = this.place(dir, word);
    return path !== null && this.#files.has(path) && !this.links.has(path) ? path : null;
  }

  /** The directory that a word names; null if the tree has none. */
  directory(dir: string, word: string): string | null {
    const path = this.place(dir, word);
    return path !== null && this.#directories.has(path) ? path : null;
  }

  /** The path a word points to, whether it exists or not; null if it is outside the tree. Follows links on the way. */
  place(dir: string, word: string): string | null {
    if (word.includes(UNKNOWN) || word.length > 1024) return null;
    let path = normalized(dir, word);
    for (let hops = 0; path !== null && hops < MAX_HOPS; hops += 1) {
      const link = this.#firstLink(path);
      if (link === null) return path;
      const target = this.links.get(link) ?? "";
      path = normalized(parentOf(link), target + path.slice(link.length));
    }
    return null;
  }

  /** Files that a glob names from a directory. Unknown text matches anything. */
  matching(dir: string, glob: string): readonly string[] {
    if (this.#globs >= MAX_GLOBS || glob.length > 512) return [];
    const known = glob.replaceAll(UNKNOWN, "**").replace(/\*{3,}/g, "**");
    // A known part must be left, or the glob would match everything.
    if (!/[A-Za-z0-9]{2}/.test(known.slice(known.lastIndexOf("/") + 1)) && glob.includes(UNKNOWN)) return [];
    const whole = known.startsWith("**") ? known : normalized(dir, known);
    if (whole === null || whole === "") return [];
    this.#globs += 1;
    const matcher = pathMatcher([whole.startsWith("**") && !whole.startsWith("**/") ? `**/${whole}` : whole]);
    const found: string[] = [];
    for (const path of this.paths) {
      if (!matcher.matches(path)) continue;
      const file = this.file("", path);
      if (file !== null) found.push(file);
      if (found.length >= MAX_MATCHES) break;
    }
    return found;
  }

  /** Files below a directory. */
  below(directory: string): readonly string[] {
    const prefix = directory === "" ? "" : `${directory}/`;
    return this.paths.filter((path) => path.startsWith(prefix) && !this.links.has(path));
  }

  #firstLink(path: string): string | null {
    if (this.links.size === 0) return null;
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      if (this.links.has(path.slice(0, at))) return path.slice(0, at);
    }
    return this.links.has(path) ? path : null;
  }
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Relative to the root, without `.` and `..`; null if it is outside. */
function normalized(dir: string, word: string): string | null {
  const inside = word === ROOT || word.startsWith(`${ROOT}/`);
  if (word.startsWith("/") && !inside) return null;
  const names = inside ? word.slice(ROOT.length).split("/") : [...dir.split("/"), ...word.split("/")];
  const out: string[] = [];
  for (const name of names) {
    if (name === "" || name === ".") continue;
    if (name !== "..") out.push(name);
    else if (out.pop() === undefined) return null;
  }
  return out.join("/");
}

/** A path of the tree as the programs of the check see it. */
export function absolute(path: string): string {
  return path === "" ? ROOT : `${ROOT}/${path}`;
}
