#!/usr/bin/env node
/**
 * `npm run check`: everything CI holds the tree to without running it. All steps run, so one call shows
 * every complaint; the exit code is 1 if any step failed.
 */
import { spawnSync } from "node:child_process";

/** knip cannot live in the lock file: its optional platform packages break `npm ci` on some mirrors. */
const KNIP = "knip@6";

/** dependency-cruiser answers "no violations" for a tree it could not read; a tree this small is one. */
const MIN_MODULES = 100;

const steps = [
  ["format", "prettier", ["--check", "--log-level", "warn", "."]],
  ["lint", "eslint", ["--max-warnings", "0", "."]],
  ["types", "tsc", ["-p", "."]],
  [
    "architecture",
    "depcruise",
    ["--config", ".dependency-cruiser.cjs", "contracts", "runtime", "services", "cli", "test"],
    architecture,
  ],
  ["dead code", "npx", ["--yes", KNIP, "--no-progress"]],
  ["sandbox programs", "node", ["scripts/check-programs.mjs"]],
  ["generated files", "tsx", ["scripts/generate.ts", "--check"]],
];

function architecture(output) {
  const modules = Number(/\((\d+) modules/.exec(output)?.[1] ?? 0);
  return modules >= MIN_MODULES
    ? null
    : `only ${modules} modules were read; at least ${MIN_MODULES} are there`;
}

const only = process.argv.slice(2);
const failed = [];
for (const [name, command, args, accept] of steps) {
  if (only.length > 0 && !only.some((word) => name.startsWith(word))) continue;
  const started = performance.now();
  const program = command === "npx" || command === "node" ? command : `node_modules/.bin/${command}`;
  const run = spawnSync(program, args, { encoding: "utf8", maxBuffer: 64 << 20 });
  const output = `${run.stdout ?? ""}${run.stderr ?? ""}`;
  const complaint = run.status === 0 ? (accept?.(output) ?? null) : `exit code ${run.status}`;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${complaint === null ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  if (complaint !== null) {
    console.log(`${output.trimEnd()}\n${name}: ${complaint}`);
    failed.push(name);
  }
}
if (failed.length > 0) {
  console.log(`check failed: ${failed.join(", ")}`);
  process.exitCode = 1;
}
