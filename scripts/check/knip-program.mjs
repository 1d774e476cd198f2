/**
 * Provides knip, at a fixed version, in this checkout's tools. It cannot live in the lock file: its optional platform packages
 * break `npm ci` on some mirrors.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { TOOLS_DIR } from "../../setup/checkout.mjs";

const VERSION = "6.44.2";
const INSTALL_TIMEOUT_MS = 5 * 60_000;

/** Returns the path of its program; installs it if it is missing. */
export async function ensureKnip() {
  const directory = join(TOOLS_DIR, `knip-${VERSION}`);
  const program = join(directory, "node_modules/.bin/knip");
  if (existsSync(program)) return program;
  mkdirSync(TOOLS_DIR, { recursive: true });
  const aside = `${directory}.${process.pid}`;
  const args = ["install", "--prefix", aside, "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  try {
    await promisify(execFile)("npm", [...args, `knip@${VERSION}`], { timeout: INSTALL_TIMEOUT_MS });
    if (!existsSync(program)) renameSync(aside, directory);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return program;
}
