/**
 * Set up before each file when `npm run test:cpu` measures: the worker and all that the file starts are moved into a control
 * group of the file, whose counter also holds what has ended. Without that command it does nothing.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect } from "vitest";

const groups = process.env["ANTIPHON_TEST_CPU_GROUPS"];
const file = expect.getState().testPath;

if (groups !== undefined && file !== undefined) {
  const group = join(groups, relative(process.cwd(), file).replaceAll("/", "+"));
  mkdirSync(group, { recursive: true });
  writeFileSync(join(group, "cgroup.procs"), String(process.pid));
}
