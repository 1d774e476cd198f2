#!/usr/bin/env node
/**
 * Runs test files as `npm test -- <word>...` does, and prints the processor seconds (user and system) of each file with all
 * processes that it started. Wall times of a busy machine cannot be compared; these nearly can.
 *
 * Each file has a control group (`test/support/cpu-account.ts`). Containers belong to the engine, which keeps one counter for
 * all of them: the last line, true if nobody else uses the engine meanwhile. Needs Linux, and root for the groups.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../../setup/checkout.mjs";

const V1 = "/sys/fs/cgroup/cpuacct";
const PARENT = existsSync(V1) ? V1 : "/sys/fs/cgroup";
const CONTAINERS = ["docker", "system.slice/docker.scope"].map((name) => join(PARENT, name)).find(existsSync);

/** @param {string} group */
function secondsOf(group) {
  const v1 = join(group, "cpuacct.usage");
  if (existsSync(v1)) return Number(readFileSync(v1, "utf8")) / 1e9;
  return Number(/usage_usec (\d+)/.exec(readFileSync(join(group, "cpu.stat"), "utf8"))?.[1]) / 1e6;
}

/** A group cannot be removed while a process that a file left behind still runs in it. @param {string} group */
function removed(group) {
  try {
    rmdirSync(group);
  } catch (error) {
    process.stderr.write(`${group} stays: ${String(error)}\n`);
  }
}

/** @param {number} seconds @param {string} name */
const line = (seconds, name) => process.stdout.write(`${seconds.toFixed(1).padStart(8)}  ${name}\n`);

const groups = join(PARENT, `antiphon-tests-${process.pid}`);
const rest = join(groups, "vitest");
mkdirSync(rest, { recursive: true });
writeFileSync(join(rest, "cgroup.procs"), String(process.pid));
const containers = CONTAINERS === undefined ? 0 : secondsOf(CONTAINERS);
const run = spawnSync(process.execPath, ["scripts/test.mjs", ...process.argv.slice(2)], {
  cwd: ROOT,
  stdio: "inherit",
  env: { ...process.env, ANTIPHON_TEST_CPU_GROUPS: groups },
});
const files = readdirSync(groups, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const costs = files.map(({ name }) => ({ name, seconds: secondsOf(join(groups, name)) }));
for (const { name, seconds } of costs.toSorted((a, b) => b.seconds - a.seconds))
  line(seconds, name.replaceAll("+", "/"));
line(
  costs.reduce((sum, { seconds }) => sum + seconds, 0),
  "all files",
);
if (CONTAINERS !== undefined) line(secondsOf(CONTAINERS) - containers, "all containers of the engine");
writeFileSync(join(PARENT, "cgroup.procs"), String(process.pid));
for (const group of [...files.map(({ name }) => join(groups, name)), groups]) removed(group);
process.exitCode = run.status ?? 1;
