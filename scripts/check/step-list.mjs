/**
 * The steps of `npm run check`, the longest first. Lint occupies both processors of a small machine.
 *
 * Caches are in `.antiphon/cache/check` and go by content, so a fresh clone or a switched branch reuses what it can.
 * Lint has none: it reads all files anew, because a type that changed in one may make another wrong.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ensureKnip } from "./knip-program.mjs";

/** dependency-cruiser reports "no violations" for a tree that it could not read, so a tree this small is refused. */
const MIN_MODULES = 100;

const program = (name) => `node_modules/.bin/${name}`;
/** TypeScript's native compiler. The one in `typescript` stays for the tools that call it as a library. */
const COMPILER = "node_modules/typescript-native/bin/tsc";
const byContent = (cache, name) => [
  "--cache",
  "--cache-strategy",
  "content",
  "--cache-location",
  join(cache, name),
];
/** The rules read these files, and its own cache does not notice when they change. */
const rulesDigest = () => {
  const hash = createHash("sha256");
  for (const file of [".dependency-cruiser.cjs", "pure-files.json"]) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
};
const present = (files, pattern) => files.filter((file) => pattern.test(file) && existsSync(file));

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {(cache: string, changed: readonly string[] | null) => Promise<readonly string[] | null> | readonly string[] | null}
 *   command The JavaScript program and its arguments; null when none of the changed files concerns the step.
 * @property {(output: string) => string | null} [accept] Refuses an output although the exit code is 0.
 */

/** @type {readonly Step[]} */
export const STEPS = [
  {
    name: "lint",
    command: (_cache, changed) => {
      const files = changed === null ? [] : present(changed, /\.(tsx?|js|mjs)$/);
      if (changed !== null && files.length === 0) return null;
      const args = ["--config", "oxlint.config.mjs", "--deny-warnings", "--no-error-on-unmatched-pattern"];
      return [program("oxlint"), ...args, ...files];
    },
  },
  {
    name: "types",
    command: (cache, changed) =>
      concerns(changed, /\.ts$|tsconfig|package/)
        ? [COMPILER, "-p", ".", "--incremental", "--tsBuildInfoFile", join(cache, "tsc.tsbuildinfo")]
        : null,
  },
  {
    name: "types of the page",
    command: (cache, changed) =>
      concerns(changed, /^(web|run|contracts)\/|tsconfig|package/)
        ? [COMPILER, "-p", "web", "--incremental", "--tsBuildInfoFile", join(cache, "tsc-web.tsbuildinfo")]
        : null,
  },
  {
    name: "format",
    command: (cache, changed) => {
      const files = changed === null ? ["."] : present(changed, /./);
      if (files.length === 0) return null;
      const args = ["--check", "--log-level", "warn", "--ignore-unknown", ...byContent(cache, "prettier")];
      return [program("prettier"), ...args, ...files];
    },
  },
  {
    name: "architecture",
    command: (cache, changed) =>
      concerns(changed, /\.(tsx?|cjs)$|package/)
        ? [
            ...[program("depcruise"), "--config", ".dependency-cruiser.cjs"],
            ...["--cache", join(cache, `depcruise-${rulesDigest()}`), "--cache-strategy", "content"],
            ...["contracts", "client", "run", "git", "runtime", "services", "cli", "web/src", "test"],
          ]
        : null,
    accept: (output) => {
      const modules = Number(/\((\d+) modules/.exec(output)?.[1] ?? 0);
      if (modules >= MIN_MODULES) return null;
      return `only ${modules} modules were read; at least ${MIN_MODULES} are there`;
    },
  },
  {
    name: "dead code",
    command: async (cache, changed) =>
      concerns(changed, /\.(tsx?|mjs|js)$|package|knip/)
        ? [await ensureKnip(), "--no-progress", "--cache", "--cache-location", join(cache, "knip")]
        : null,
  },
  {
    name: "sandbox programs",
    command: (_cache, changed) =>
      concerns(changed, /\.(pl|sh|py)$|supervisor|sandbox-programs/)
        ? ["scripts/check/sandbox-programs.mjs"]
        : null,
  },
  {
    name: "generated files",
    command: (_cache, changed) =>
      concerns(changed, /^(contracts|docs|scripts)\/|\.ts$/)
        ? [program("tsx"), "scripts/generate.ts", "--check"]
        : null,
  },
];

function concerns(changed, pattern) {
  return changed === null || changed.some((file) => pattern.test(file));
}
