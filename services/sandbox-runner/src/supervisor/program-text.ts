/**
 * The Perl and shell programs that run inside a sandbox, each as one text. The text is passed as an argument, so comment
 * lines and indentation are left out; every other line is unchanged.
 *
 * A checkout reads the files beside this one; a bundle carries their text (scripts/build.mjs).
 */
import { readFileSync } from "node:fs";

declare const __ANTIPHON_PROGRAMS__: Readonly<Record<string, string>> | undefined;

/** @param paths parts of one program, relative to this folder, in the order in which they run */
export function programText(...paths: readonly string[]): string {
  return paths.map((path) => withoutComments(sourceOf(path))).join("");
}

function sourceOf(path: string): string {
  if (typeof __ANTIPHON_PROGRAMS__ === "undefined")
    return readFileSync(new URL(path, import.meta.url), "utf8");
  const text = __ANTIPHON_PROGRAMS__[path];
  if (text === undefined) throw new Error(`the bundle has no ${path}`);
  return text;
}

function withoutComments(source: string): string {
  const lines = source.split("\n").map((line) => line.trimStart());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => `${line}\n`)
    .join("");
}
