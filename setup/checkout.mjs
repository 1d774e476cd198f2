import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The root of this checkout, or of the installed package. */
export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** False in an installed package, which needs no npm packages and holds no tests. */
export const IS_CHECKOUT = existsSync(path.join(ROOT, "package-lock.json"));

/** Where set-up keeps its files; never in git. `antiphon setup` always names it. */
export const STATE_DIR = path.resolve(process.env["ANTIPHON_STATE_DIR"] ?? path.join(ROOT, ".antiphon"));

/** Binaries of this checkout only: nats-server, nats, kustomize. */
export const TOOLS_DIR = path.join(STATE_DIR, "tools");

/** Things that can be fetched again; safe to delete. */
export const CACHE_DIR = path.join(STATE_DIR, "cache");

/**
 * Makes a fresh private directory for one step's intermediate files. The caller removes it.
 *
 * @param {string} name
 */
export async function workDirectory(name) {
  const directory = path.join(CACHE_DIR, "work", `${name}-${process.pid}`);
  await mkdir(directory, { recursive: true });
  return directory;
}

/**
 * A short hash over the given texts and the content of whole files or directories (in path order),
 * so that a name made of it changes exactly when one of them changes.
 *
 * @param {{texts?: readonly string[], paths?: readonly string[]}} input
 */
export async function contentHash({ texts = [], paths = [] }) {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`text ${Buffer.byteLength(text)}\0${text}\0`);
  for (const file of await filesBelow(paths)) {
    const content = await readFile(file);
    hash.update(`file ${path.relative(ROOT, file)} ${content.length}\0`);
    hash.update(content);
  }
  return hash.digest("hex").slice(0, 12);
}

/** @param {readonly string[]} paths */
async function filesBelow(paths) {
  /** @type {string[]} */
  const files = [];
  for (const entry of paths) {
    const children = await readdir(entry, { withFileTypes: true, recursive: true }).catch(
      (/** @type {NodeJS.ErrnoException} */ error) => {
        if (error.code === "ENOTDIR") return null;
        if (error.code === "ENOENT") return [];
        throw error;
      },
    );
    if (children === null) files.push(entry);
    else
      for (const child of children) if (child.isFile()) files.push(path.join(child.parentPath, child.name));
  }
  return files.sort();
}
