/**
 * The shape of an ecosystem's probe: it looks at one directory of a repository and says which commands prepare it. Pure.
 */
import { parse } from "smol-toml";
import type { ReadText } from "../checks.ts";

/** One directory of a repository; names and paths are relative to it. */
export interface Place {
  /** Relative to the repository; "" for its root. */
  readonly directory: string;
  has(name: string): boolean;
  /** The file's text; null if it does not exist or is too large. */
  read(name: string): Promise<string | null>;
  /** The names of the files directly in it and of those one level below, as `name` and `directory/name`. */
  readonly names: readonly string[];
  /** The paths of all files below it. */
  readonly paths: readonly string[];
}

/** What a probe found. `command` texts run in the place's directory. */
export interface Finding {
  /** The file that decided. */
  readonly because: string;
  readonly commands: readonly string[];
  /** Programs that the image must have. */
  readonly tools: readonly string[];
  /** Directories that come before the image's own PATH. */
  readonly path?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

export interface Ecosystem {
  readonly name: string;
  /** True for the base name of a file that decides what is installed. */
  readonly decides: RegExp;
  /** Base names whose presence makes a directory worth a look. */
  readonly markers: readonly string[];
  /** Paths that mark the root, for tools without a manifest. */
  readonly marks?: RegExp;
  /** Not looked for one directory below a root that has a build of another kind. */
  readonly rootFirst?: true;
  probe(place: Place): Promise<Finding | null>;
}

export function jsonOf(text: string | null): Record<string, unknown> | null {
  try {
    return recordOf(JSON.parse((text ?? "").replace(/^\ufeff/, "")));
  } catch {
    return null; // A file that does not parse is the package manager's to complain about.
  }
}

export function tomlOf(text: string | null): Record<string, unknown> | null {
  try {
    return text === null ? null : parse(text);
  } catch {
    return null; // As above.
  }
}

export function recordOf(value: unknown): Record<string, unknown> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

export const isFilled = (value: unknown): boolean => Object.keys(recordOf(value) ?? {}).length > 0;

/** A place in a listing. */
export function placeOf(directory: string, listing: readonly string[], read: ReadText): Place {
  const prefix = directory === "" ? "" : `${directory}/`;
  const paths = listing.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  const names = paths.filter((path) => path.split("/").length <= 2);
  const known = new Set(names);
  return {
    directory,
    names,
    paths,
    has: (name) => known.has(name),
    read: async (name) => (known.has(name) ? read(`${prefix}${name}`) : null),
  };
}
