/**
 * The sources that a change leaves in the tree: program text on the side that is judged, by their names, and scripts, by their
 * first line. Pure. A check has to use them, or it says nothing about them.
 *
 * A test, a configuration and a helper of tests judge, so they are no sources; a program in a directory of tools is one, because it
 * is written to be run. A removed file is gone and cannot be used. A moved file may no longer find its imports, so it counts; a
 * change of its mode alone does not.
 */
import type { CheckedFile } from "../patch/patch-policy.ts";
import { isProgramText } from "./program-text.ts";
import { isDocument, isHarness, isOwnTool } from "./side.ts";

type Changed = Pick<CheckedFile, "path" | "change" | "from" | "added" | "removed" | "binary">;

/** Sphinx has its settings in a program. Nothing but the documentation is made with it, as with a document. */
const SETTINGS_OF_DOCUMENTS = /^docs?\/(?:[^/]+\/)?conf\.py$/;

/** @param textOf the content that the change gives a file */
export function sourcesLeft(files: readonly Changed[], textOf: (path: string) => string): string[] {
  return files
    .filter((file) => file.change !== "delete" && !isOfModeAlone(file))
    .map(({ path }) => path)
    .filter((path) => isSource(path, textOf));
}

/** Tests, their data and configuration that the change touches beside its sources. A moved one stands at both of its places. */
export function besideSources(files: readonly Changed[], textOf: (path: string) => string): string[] {
  return files
    .flatMap(({ path, from }) => (from === null ? [path] : [path, from]))
    .filter((path) => isHarness(path) && !isSource(path, textOf));
}

/** Whether the change does nothing but remove files, and one of them at least is a source. */
export function onlyRemovesSources(files: readonly Changed[]): boolean {
  return (
    files.every(({ change }) => change === "delete") && files.some(({ path }) => isSource(path, () => ""))
  );
}

/** Whether nothing in the change can bring tests but its sources and documents themselves. */
export function onlySources(files: readonly Changed[], textOf: (path: string) => string): boolean {
  return files.every(({ path }) => isSource(path, textOf) || isDocument(path));
}

function isSource(path: string, textOf: (path: string) => string): boolean {
  if (SETTINGS_OF_DOCUMENTS.test(path)) return false;
  if (isHarness(path) && !isOwnTool(path)) return false;
  return isProgramText(path) || textOf(path).startsWith("#!");
}

function isOfModeAlone({ change, added, removed, binary }: Changed): boolean {
  return change === "modify" && added + removed === 0 && !binary;
}
