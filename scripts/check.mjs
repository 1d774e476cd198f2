#!/usr/bin/env node
/**
 * `npm run check`: all checks of CI that do not run the code. All steps run, two side by side, so one call shows every
 * complaint. The exit code is 1 if any step failed, 2 for an unknown step.
 */
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

import { changedFiles } from "./check/changed-files.mjs";
import { STEPS } from "./check/step-list.mjs";
import { runStep } from "./check/step-run.mjs";
import { CACHE_DIR, ROOT } from "../setup/checkout.mjs";

const HELP = `usage: npm run check [-- <options> <step>...]

  <step>      only the steps whose names begin like this: ${STEPS.map(({ name }) => name).join(", ")}
  --changed   format and lint the files that differ from the last commit; skip steps they do not concern
  --cold      ignores the caches of earlier calls, as in CI
`;

/** Each step is one process, so more steps than processors would only wait for each other. */
const LANES = Math.min(STEPS.length, Math.max(2, availableParallelism()));
const CACHE = join(CACHE_DIR, "check");

async function main(options) {
  const words = options.filter((option) => !option.startsWith("--"));
  const unknown =
    options.find(
      (option) => option.startsWith("--") && !["--changed", "--cold", "--help"].includes(option),
    ) ?? words.find((word) => !STEPS.some(({ name }) => name.startsWith(word)));
  if (unknown !== undefined || options.includes("--help")) {
    process[unknown === undefined ? "stdout" : "stderr"].write(HELP);
    return unknown === undefined ? 0 : 2;
  }
  process.chdir(ROOT);
  if (options.includes("--cold")) rmSync(CACHE, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });

  const waiting = STEPS.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.startsWith(word)),
  );
  const results = await runAll(waiting, options.includes("--changed") ? changedFiles() : null);
  const times = results.map(({ name, seconds }) => `${name} ${seconds.toFixed(1)} s`).join(", ");
  const failed = results.filter(({ complaint }) => complaint !== null);
  if (failed.length > 0) console.log(`check failed: ${failed.map(({ name }) => name).join(", ")}`);
  else console.log(`check passed (${times || "nothing to look at"})`);
  return failed.length === 0 ? 0 : 1;
}

/** A complaint is printed when its step ends, so you can fix the first while the others run. */
async function runAll(steps, changed) {
  const waiting = [...steps];
  const results = [];
  const lane = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const result = await runStep(step, CACHE, changed);
      if (result === null) continue;
      results.push(result);
      if (result.complaint !== null)
        console.log(`FAIL ${result.name}\n${result.output}\n${result.name}: ${result.complaint}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

process.exitCode = await main(process.argv.slice(2));
