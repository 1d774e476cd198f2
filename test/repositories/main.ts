/**
 * `npx tsx test/repositories/main.ts [words...]`: tries the public repositories whose names, languages or registries are
 * among the words, or all of them, and prints a table with the cause of each failure. Needs the registries, and images
 * with their toolchains, which are named by ANTIPHON_TEST_IMAGES.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registryAccess } from "../support/package-registries.ts";
import { startStack } from "../e2e/support/stack.ts";
import { CATALOGUE } from "./catalogue.ts";
import { knownRegistries } from "./registries.ts";
import { tryRepository, type Trial } from "./trial.ts";

/** For one call of the command line: a setup and two rounds of checks. */
const PATIENCE_MS = 1_200_000;
const words = process.argv.slice(2).map((word) => word.toLowerCase());
const chosen = CATALOGUE.filter(
  ({ name, language, registry }) =>
    words.length === 0 || [name, language, registry].some((one) => words.includes(one.toLowerCase())),
);
const directory = mkdtempSync(join(tmpdir(), "antiphon-repositories-"));
const stack = await startStack({ env: await registryAccess(directory, await knownRegistries()) });
try {
  for (const image of (process.env["ANTIPHON_TEST_IMAGES"] ?? "").split(",").filter((one) => one !== ""))
    await stack.json(["images", "allow", image]);
  const waiting = [...chosen];
  const done: Trial[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const trial = await tryRepository((args) => stack.json(args, { timeoutMs: PATIENCE_MS }), next);
      done.push(trial);
      const { name, language, check, cause, seconds } = trial;
      console.log(`| ${name} | ${language} | \`${check}\` | ${cause ?? "lands"} | ${seconds.toFixed(0)} s |`);
    }
  };
  await Promise.all([worker(), worker(), worker()]);
  console.log(`${done.filter(({ cause }) => cause === null).length} of ${done.length} got through`);
} finally {
  await stack.stop();
  rmSync(directory, { recursive: true, force: true });
}
