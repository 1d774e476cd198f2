/**
 * Public releases in several languages as they are, from the registries that keep them, each by its digest. Nothing of them
 * is part of this project. A release whose client or registry is not there is named on standard error and not tried; more of
 * them are tried by test/repositories/main.ts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FIXED_SET } from "../repositories/fixed-set.ts";
import { knownRegistries } from "../repositories/registries.ts";
import { tryRepository } from "../repositories/trial.ts";
import { isNight } from "../support/night.ts";
import { registryAccess } from "../support/package-registries.ts";
import { patient } from "../support/patience.ts";
import { startStack, type Stack } from "./support/stack.ts";

/** For one call of the command line: a setup and two rounds of checks. */
const PATIENCE_MS = 300_000;
const BUILD_MS = 600_000;
/** One for each push, which needs no toolchain and no packages; at night, one in each language. */
const RELEASES = FIXED_SET.filter(({ name }) => isNight || name === "try-tiny");
const TOOLCHAINS = RELEASES.flatMap(({ toolchain }) => toolchain ?? []);

let stack: Stack;
let directory: string;
/** Allowed by this file, so that it does not stay so. */
let allowed: string[] = [];
/** Why the toolchains cannot be had here; null: they can. */
let without: string | null = null;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-public-set-"));
  stack = await startStack({ env: await registryAccess(directory, await knownRegistries()) });
  if (TOOLCHAINS.length === 0) return;
  const before = await allowedImages();
  const build = ["images", "build", "--with", TOOLCHAINS.toSorted().join(",")];
  const { code, stderr } = await stack.antiphon(build, { timeoutMs: BUILD_MS });
  without = code === 0 ? null : stderr.trim();
  allowed = (await allowedImages()).filter((ref) => !before.includes(ref));
}, BUILD_MS);
afterAll(async () => {
  for (const ref of allowed) await stack.antiphon(["images", "disallow", ref]);
  await stack.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function allowedImages(): Promise<string[]> {
  const { document } = await stack.json<{ images: { ref: string }[] }>(["images", "list"]);
  return document.images.map(({ ref }) => ref);
}

for (const release of RELEASES)
  test(
    `${release.release}, in ${release.language}: HEAD passes, a wrong fix does not land, and the right one does`,
    async () => {
      if (release.toolchain !== null && without !== null)
        return untried(`no ${release.toolchain}: ${without}`);
      const call = <T>(args: readonly string[]) => stack.json<T>(args, { timeoutMs: PATIENCE_MS });
      const trial = await tryRepository(call, release, release.digest);
      if (trial.isUntried) return untried(trial.cause ?? "");
      expect(trial).toMatchObject({ cause: null, name: release.name });
      return undefined;

      function untried(why: string): void {
        console.error(`NOT TRIED: ${release.release} (${release.language}): ${why}`);
      }
    },
    patient(600_000),
  );
