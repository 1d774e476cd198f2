/**
 * The files that a task was told to leave as evidence (`return.artifacts`). A task that must not change files may write
 * these; they are no part of its change. Pure.
 */
import type { DirectorTask } from "@antiphon/contracts";
import type { Change, ChangedFile } from "../ports.ts";
import type { BundleFile } from "./bundle.ts";

export interface SetAside {
  readonly artifacts: readonly ChangedFile[];
  readonly change: Change;
}

export function setAside({ kind, return: wanted }: DirectorTask, change: Change): SetAside {
  if (kind === "edit_repo" || wanted.artifacts.length === 0) return { artifacts: [], change };
  const isWanted = ({ path }: ChangedFile): boolean => wanted.artifacts.includes(path);
  return {
    artifacts: change.files.filter(isWanted),
    change: { ...change, files: change.files.filter((file) => !isWanted(file)) },
  };
}

/** Where the bundle keeps an artifact. */
export function artifactPath(path: string): string {
  return `artifacts/${path}`;
}

export function inBundle({ path, content }: ChangedFile): BundleFile {
  return { path: artifactPath(path), text: content.toString("utf8") };
}
