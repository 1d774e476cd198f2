// The files of a repository that `antiphon init` and `antiphon check` read and write.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCRIPT_LOCKS } from "@antiphon/contracts/shapes/script-runner";
import { committedText, filesOf } from "./work-tree-diff.ts";
import { declaredChecks, PROJECT_FILES, type CheckTexts } from "./project-file.ts";

/** The path of the repository's own settings in the work tree; null: it has none. */
export function projectFileOf(top: string): string | null {
  return PROJECT_FILES.map((name) => join(top, name)).find((path) => existsSync(path)) ?? null;
}

/** Replaces the file that is there; a new one is called antiphon.yaml. Returns its path. */
export function writeProjectFile(top: string, text: string): string {
  const path = projectFileOf(top) ?? join(top, PROJECT_FILES[0]);
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, text);
  renameSync(aside, path);
  return path;
}

/** The checks of the work tree's own antiphon.yaml, which the next commit will declare; null: it declares none. */
export function checksOfWorkTree(top: string): string[] | null {
  const path = projectFileOf(top);
  return path === null ? null : declaredChecks(readFileSync(path, "utf8"), path);
}

/** What the last commit says of its commands. */
export async function checkTextsOf(top: string, head: string): Promise<CheckTexts> {
  const [packageJson, gnu, lower, upper] = await Promise.all(
    ["package.json", "GNUmakefile", "makefile", "Makefile"].map((path) => committedText(top, head, path)),
  );
  const locks = await filesOf(top, head, SCRIPT_LOCKS);
  return { packageJson: packageJson ?? null, makefile: gnu ?? lower ?? upper ?? null, locks };
}
