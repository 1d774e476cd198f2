/**
 * The packages that a repository's lock files resolve to, with the digests that the files have. Pure. A file in a form
 * that is not known here contributes nothing: the list says what is pinned, and the package managers verify it.
 */
import { documentValue } from "@antiphon/contracts";
import type { ReadText } from "./checks.ts";
import { jsonOf, recordOf, tomlOf } from "./ecosystems/ecosystem.ts";

export interface LockedPackage {
  readonly from: string;
  readonly name: string;
  readonly version: string;
  /** As in the file: `sha512-...` (npm), `h1:...` (Go), hexadecimal (Cargo). Null: the file has none. */
  readonly digest: string | null;
}

type Found = Omit<LockedPackage, "from">;
type Reader = (text: string) => Found[];

const MAX_PACKAGES = 20_000;

const READERS: readonly (readonly [RegExp, Reader])[] = [
  [/^(package-lock|npm-shrinkwrap)\.json$/, npm],
  [/^pnpm-lock\.yaml$/, pnpm],
  [/^yarn\.lock$/, yarn],
  [/^(uv|poetry)\.lock$/, pythonLock],
  [/^Pipfile\.lock$/, pipfile],
  [/^requirements.*\.txt$/, requirements],
  [/^Cargo\.lock$/, cargo],
  [/^go\.sum$/, goSum],
  [/^Gemfile\.lock$/, gemfile],
  [/^composer\.lock$/, composer],
];

export async function lockedPackages(inputs: readonly string[], read: ReadText): Promise<LockedPackage[]> {
  const found: LockedPackage[] = [];
  for (const from of inputs) {
    const name = from.slice(from.lastIndexOf("/") + 1);
    const reader = READERS.find(([form]) => form.test(name))?.[1];
    if (reader === undefined) continue;
    for (const one of reader((await read(from)) ?? "")) found.push({ from, ...one });
  }
  return found.slice(0, MAX_PACKAGES);
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

function one(name: unknown, version: unknown, digest: unknown): Found[] {
  const [named, versioned] = [textOf(name), textOf(version)];
  return named === null || versioned === null
    ? []
    : [{ name: named, version: versioned, digest: textOf(digest) }];
}

const entriesOf = (value: unknown): [string, unknown][] => Object.entries(recordOf(value) ?? {});
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function npm(text: string): Found[] {
  const document = jsonOf(text);
  const packages = entriesOf(document?.["packages"]).flatMap(([path, value]) => {
    const at = path.lastIndexOf("node_modules/");
    const entry = recordOf(value);
    return at < 0
      ? []
      : one(path.slice(at + "node_modules/".length), entry?.["version"], entry?.["integrity"]);
  });
  if (packages.length > 0) return packages;
  return entriesOf(document?.["dependencies"]).flatMap(([name, value]) =>
    one(name, recordOf(value)?.["version"], recordOf(value)?.["integrity"]),
  );
}

function pnpm(text: string): Found[] {
  return entriesOf(recordOf(documentValue(text, "pnpm-lock.yaml"))?.["packages"]).flatMap(([key, value]) => {
    const match = /^\/?(.+?)[@/](\d[^(_]*)/.exec(key);
    return one(match?.[1], match?.[2], recordOf(recordOf(value)?.["resolution"])?.["integrity"]);
  });
}

/** Blocks of `name@range:` lines; version 1 has `version "1.0.0"`, later ones `version: 1.0.0`. */
function yarn(text: string): Found[] {
  return text.split(/\n(?=\S)/).flatMap((block) => {
    const name = /^"?((?:@[^@/\s]+\/)?[^@\s",]+)@/.exec(block)?.[1];
    const version = /^ {2}version:? "?([^"\s]+)/m.exec(block)?.[1];
    const digest = /^ {2}(?:integrity|checksum):? ([^\s]+)/m.exec(block)?.[1];
    return one(name, version, digest);
  });
}

function pythonLock(text: string): Found[] {
  return listOf(tomlOf(text)?.["package"]).flatMap((value) => {
    const entry = recordOf(value);
    const source = recordOf(entry?.["sdist"]) ?? recordOf(listOf(entry?.["files"])[0]);
    return one(entry?.["name"], entry?.["version"], source?.["hash"]);
  });
}

function pipfile(text: string): Found[] {
  const document = jsonOf(text);
  return ["default", "develop"].flatMap((section) =>
    entriesOf(document?.[section]).flatMap(([name, value]) => {
      const entry = recordOf(value);
      const version = textOf(entry?.["version"])?.replace(/^==/, "");
      return one(name, version, listOf(entry?.["hashes"])[0]);
    }),
  );
}

function requirements(text: string): Found[] {
  return text
    .replaceAll(/\\\n/g, " ")
    .split("\n")
    .flatMap((line) => {
      const pinned = /^\s*([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*===?\s*([^\s;#,]+)/.exec(line);
      return one(pinned?.[1], pinned?.[2], /--hash=(\S+)/.exec(line)?.[1]);
    });
}

function cargo(text: string): Found[] {
  return listOf(tomlOf(text)?.["package"]).flatMap((value) => {
    const entry = recordOf(value);
    return entry?.["source"] === undefined ? [] : one(entry["name"], entry["version"], entry["checksum"]);
  });
}

/** Lines for go.mod files alone are left out: the module's own line has the digest of its content. */
function goSum(text: string): Found[] {
  return text.split("\n").flatMap((line) => {
    const [name, version, digest] = line.trim().split(/\s+/);
    return version?.endsWith("/go.mod") === true ? [] : one(name, version, digest);
  });
}

function gemfile(text: string): Found[] {
  const checksums = new Map<string, string>();
  for (const [, name = "", version = "", digest = ""] of text.matchAll(
    /^ {2}(\S+) \(([^)]+)\) (sha256=\S+)$/gm,
  ))
    checksums.set(`${name} ${version}`, digest);
  return [...text.matchAll(/^ {4}(\S+) \(([^)]+)\)$/gm)].flatMap(([, name, version]) =>
    one(name, version, checksums.get(`${name} ${version}`)),
  );
}

function composer(text: string): Found[] {
  const document = jsonOf(text);
  return [...listOf(document?.["packages"]), ...listOf(document?.["packages-dev"])].flatMap((value) => {
    const entry = recordOf(value);
    return one(entry?.["name"], entry?.["version"], recordOf(entry?.["dist"])?.["shasum"]);
  });
}
