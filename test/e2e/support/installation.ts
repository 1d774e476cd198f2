/**
 * Installations of other versions of Antiphon, each with its own sources, bundle and program: that of a commit, or this tree with
 * changes in its text, which is what the next release may be. They share npm packages and state with this checkout.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROOT } from "./program.ts";

/** A change of one source file: the text that it holds once, and what stands there instead. */
export interface Edit {
  readonly file: string;
  readonly old: string;
  readonly now: string;
}

/** What `antiphon` needs beside its bundle. */
const BESIDE = ["bin", "agents", "setup", "deploy/images/sandbox"];

/** Returns the program. `commit`: null is this tree as it is now. */
export function install(dir: string, commit: string | null, edits: readonly Edit[] = []): string {
  const source = join(dir, "source");
  mkdirSync(source, { recursive: true });
  if (commit === null) copyTree(source);
  else {
    const archive = join(dir, "source.tar");
    execFileSync("git", ["-C", ROOT, "archive", "--output", archive, commit]);
    execFileSync("tar", ["-xf", archive, "-C", source]);
  }
  for (const { file, old, now } of edits) {
    const text = readFileSync(join(source, file), "utf8");
    if (text.split(old).length !== 2) throw new Error(`${file} does not hold once: ${old}`);
    writeFileSync(
      join(source, file),
      text.replace(old, () => now),
    );
  }
  linkPackages(source);
  const home = join(dir, "home");
  execFileSync(process.execPath, [join(source, "scripts/build.mjs"), "--outdir", join(home, "dist")], {
    stdio: "pipe",
  });
  for (const name of [...BESIDE, "package.json"])
    cpSync(join(source, name), join(home, name), { recursive: true });
  return join(home, "bin/antiphon.mjs");
}

function copyTree(to: string): void {
  const files = execFileSync("git", [
    "-C",
    ROOT,
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  for (const file of files.toString().split("\0"))
    if (file !== "") cpSync(join(ROOT, file), join(to, file), { force: true, recursive: true });
}

/** The packages of this checkout; those of Antiphon itself are the installation's own. */
function linkPackages(source: string): void {
  const packages = join(ROOT, "node_modules");
  const to = join(source, "node_modules");
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, "@antiphon"), { recursive: true });
  for (const name of readdirSync(packages))
    if (name !== "@antiphon") symlinkSync(join(packages, name), join(to, name));
  for (const name of readdirSync(join(packages, "@antiphon"))) {
    const target = readlinkSync(join(packages, "@antiphon", name));
    symlinkSync(resolve(to, "@antiphon", target), join(to, "@antiphon", name));
  }
}
