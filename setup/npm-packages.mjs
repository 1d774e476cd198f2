/**
 * Installs the npm packages of package-lock.json. npm records what it installed in node_modules/.package-lock.json, which is
 * compared with the lock file, so no stamp is needed.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

import { ROOT } from "./checkout.mjs";
import { reasonOf, run } from "./command.mjs";
import { StepFailure } from "./step-failure.mjs";

const INSTALL_TIMEOUT_MS = 15 * 60_000;

/** @typedef {{version?: string, optional?: boolean, devOptional?: boolean, link?: boolean}} LockedPackage */

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string}>}
 */
export async function ensureNpmPackages({ note }) {
  const wanted = await packagesIn(path.join(ROOT, "package-lock.json"));
  if (wanted === null)
    throw new StepFailure("package-lock.json is missing or unreadable", "git checkout package-lock.json");
  const stale = await firstStale(wanted);
  if (stale === null) return { outcome: "present", detail: `${wanted.size} packages` };

  note(`npm ci (${stale})`);
  // One directory up from node, npm is a script of the same installation; PATH finds it.
  const result = await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--include=dev"], {
    cwd: ROOT,
    timeoutMs: INSTALL_TIMEOUT_MS,
    // Under `npm run`, npm passes its own state on; only the user's settings should reach npm ci.
    env: { ...process.env, NODE_ENV: "development", npm_config_loglevel: "error" },
  });
  if (result.code !== 0)
    throw new StepFailure(
      `npm ci failed: ${reasonOf(result)}`,
      "run `npm ci` by hand; it needs an npm registry (npm config get registry)",
    );
  const missing = await firstStale(wanted);
  if (missing !== null)
    throw new StepFailure(`npm ci succeeded, but ${missing}`, "remove node_modules, then npm run setup");
  return { outcome: "made", detail: `${wanted.size} packages` };
}

/**
 * Why node_modules does not match the lock file, or null when it does.
 *
 * @param {Map<string, LockedPackage>} wanted
 */
async function firstStale(wanted) {
  const installed = await packagesIn(path.join(ROOT, "node_modules/.package-lock.json"));
  if (installed === null) return "node_modules is not there";
  for (const [location, { version, optional, devOptional, link }] of wanted) {
    const found = installed.get(location);
    // Optional packages of other platforms are in the lock file only.
    if (found === undefined && (optional || devOptional)) continue;
    if (found === undefined) return `${location} is not installed`;
    if (found.version !== version && !link) return `${location} is ${found.version}, not ${version}`;
    if (!existsSync(path.join(ROOT, location))) return `${location} is gone`;
  }
  return null;
}

/** @param {string} file @returns {Promise<Map<string, LockedPackage> | null>} */
async function packagesIn(file) {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  const { packages = {} } = /** @type {{packages?: Record<string, LockedPackage>}} */ (JSON.parse(text));
  return new Map(Object.entries(packages).filter(([location]) => location.startsWith("node_modules/")));
}
