#!/usr/bin/env node
/**
 * `npm test` runs the unit tests and the files of `test/tiers.ts` that a commit has to pass. With words it runs every file,
 * of any project but `nightly`, whose path contains one of them. `npm run test:all` runs what CI runs for each push, and
 * `npm run test:nightly` also the long repetitions.
 */
import { spawn } from "node:child_process";

import { ROOT } from "../setup/checkout.mjs";
import { vitestArguments } from "./test/vitest-arguments.mjs";

const HELP = `usage: npm test [-- <word>... <options>]
       npm run test:all | test:nightly | test:watch [-- <word>... <options>]

  no word     before a commit: unit tests, the essential integration tests, the main job end to end
  <word>      every file, of any project, whose path contains one of the words: npm test -- sandbox gateway
  --all       all files that CI runs for each push; test:all is short for it
  --nightly   these and the long repetitions; test:nightly is short for it
  --watch     repeat after each change; without a word, the unit tests

Other options are passed to vitest: npm test -- gateway -t "cursor"
`;

const given = process.argv.slice(2);
if (given.includes("--help")) process.stdout.write(HELP);
else {
  const child = spawn(process.execPath, ["node_modules/vitest/vitest.mjs", ...vitestArguments(given)], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, NODE_ENV: "test" }, // Otherwise vitest sets it to the mode's name.
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.once("close", (code) => (process.exitCode = code ?? 1));
}
