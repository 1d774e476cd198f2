/**
 * Which entries of a prepared sandbox become part of its environment. Pure.
 *
 * Left out: files of the tree, its `.git`, devices, pipes, and links to places that differ from sandbox to sandbox. Setup
 * may leave any of them behind, and none is needed to run what it installed. Modes lose setuid, setgid and sticky bits.
 *
 * A link is judged by its text. It may lead anywhere below the two directories of an environment, and to absolute places
 * of the image (python's virtual environments). Inside a sandbox it can lead to nothing that the sandbox lacks.
 */
import { posix } from "node:path";
import { SANDBOX_HOME } from "@antiphon/contracts";
import type { TarEntry } from "../workspace/tar-reader.ts";

/** The two directories of a layer. */
export type LayerTop = "workspace" | "home";

/** Where they are in a sandbox. */
export const LAYER_PLACES: Readonly<Record<LayerTop, string>> = {
  workspace: "/workspace",
  home: SANDBOX_HOME,
};

export interface KeptEntry {
  /** Below the layer's top: `workspace/node_modules/a.js`. */
  readonly path: string;
  readonly type: "file" | "directory" | "symlink" | "hardlink";
  readonly mode: number;
  readonly size: number;
  readonly link: string;
  readonly mtimeS: number;
}

/** Directories of a sandbox that hold no part of an image. */
const ELSEWHERE = /^\/(proc|sys|dev|tmp|run)(\/|$)/;

/** Null: not part of the environment. @param isTracked whether a path of the workspace belongs to the tree */
export function keptEntry(
  top: LayerTop,
  entry: TarEntry,
  isTracked: (path: string) => boolean,
): KeptEntry | null {
  const path = plainPath(entry.path);
  if (path === null || path === "") return null;
  if (top === "workspace" && (isTracked(path) || /^\.git(\/|$)/.test(path))) return null;
  const kept = { path: `${top}/${path}`, mode: entry.mode & 0o777, size: entry.size, mtimeS: entry.mtimeS };
  switch (entry.type) {
    case "file":
      return { ...kept, type: "file", link: "" };
    case "directory":
      // A directory that its owner cannot write to could not be filled when it is unpacked.
      return { ...kept, type: "directory", mode: kept.mode | 0o700, link: "" };
    case "symlink":
      return mayPoint(top, path, entry.link) ? { ...kept, type: "symlink", link: entry.link } : null;
    case "hardlink": {
      const target = plainPath(entry.link);
      return target === null ? null : { ...kept, type: "hardlink", link: `${top}/${target}` };
    }
    case "character":
    case "block":
    case "fifo":
      return null;
  }
}

/** The path without `./` and a slash at its end; null when it is absolute or leads upwards. */
function plainPath(path: string): string | null {
  const plain = path.replace(/^(\.\/)+/, "").replace(/\/+$/, "");
  if (plain === "." || plain === "") return "";
  const isPlain = !plain.startsWith("/") && plain.split("/").every((part) => part !== ".." && part !== "");
  return isPlain ? plain : null;
}

function mayPoint(top: LayerTop, path: string, link: string): boolean {
  const target = posix.resolve(posix.dirname(`${LAYER_PLACES[top]}/${path}`), link);
  const isInside = Object.values(LAYER_PLACES).some(
    (place) => target === place || target.startsWith(`${place}/`),
  );
  return isInside || !ELSEWHERE.test(target);
}
