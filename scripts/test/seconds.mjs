#!/usr/bin/env node
/**
 * Writes how long each test file took into `test/seconds.json`, by which `npm test` orders them.
 * Usage: node scripts/test/seconds.mjs <JSON report of vitest>, such as `.antiphon/ci/tests.json` after `.ci/run`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../../setup/checkout.mjs";
import { ALL_ONLY, COMMIT, NIGHTLY } from "../../test/tiers.ts";
import { measured } from "./order.mjs";

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("usage: node scripts/test/seconds.mjs <JSON report of vitest>");
const report = JSON.parse(readFileSync(file, "utf8"));
const seconds = measured(report, ROOT, new Set([...COMMIT, ...ALL_ONLY, ...Object.keys(NIGHTLY)]));
writeFileSync(join(ROOT, "test/seconds.json"), `${JSON.stringify(seconds, null, 2)}\n`);
