/**
 * What an idle `antiphon dev` costs after one run: processor time and memory of each process, and of all together.
 *
 * It is started as `antiphon run` starts it. Not measured: other sandbox providers, several Associates.
 */
import { smallHeap, SMALLEST_YOUNG_SPACE } from "../../cli/src/dev/small-memory.ts";
import { BROKEN_CALCULATOR, fixing, makeProject } from "../e2e/support/project.ts";
import { startStack } from "../e2e/support/stack.ts";
import { familyOf, nameOf, parentOf, togetherMb, usageOf } from "./process-usage.ts";

/** The caches of a start are gone by then. */
const SETTLE_MS = 20_000;
const WATCH_MS = 60_000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function run(): Promise<void> {
  const stack = await startStack({ env: smallHeap({}), node: [SMALLEST_YOUNG_SPACE] });
  try {
    const project = makeProject(BROKEN_CALCULATOR);
    await stack.antiphon(fixing(project));
    project.remove();
    await wait(SETTLE_MS);
    const pids = familyOf(parentOf(stack.pid("router")));
    const before = new Map(pids.map((pid) => [pid, usageOf(pid).cpuS]));
    await wait(WATCH_MS);
    const usages = pids.map((pid) => ({ pid, usage: usageOf(pid) }));
    const rows = usages.map(({ pid, usage: { cpuS, rssMb, pssMb, privateMb, descriptors } }) => ({
      process: nameOf(pid),
      "% of a core": tenth((100_000 * (cpuS - (before.get(pid) ?? 0))) / WATCH_MS),
      "RSS MB": tenth(rssMb),
      "PSS MB": tenth(pssMb),
      "private MB": tenth(privateMb),
      descriptors,
    }));
    console.table(rows);
    const cpu = rows.reduce((sum, row) => sum + row["% of a core"], 0);
    const together = togetherMb(usages.map(({ usage }) => usage));
    console.log(`all: ${tenth(cpu)} % of a core, ${tenth(together)} MB (goals: 2 % and 300 MB)`);
  } finally {
    await stack.stop();
  }
}

const tenth = (value: number): number => Math.round(10 * value) / 10;
