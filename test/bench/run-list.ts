/**
 * Measures the list of runs over HTTP with 10,000 runs in the journal, 2,000 of them open: the first request of a gateway,
 * which learns when each run began, then pages of several sizes, all of them, and a page while runs begin.
 *
 * It does not measure archived runs, whose lines come from packs, nor a journal of several servers.
 */
import { closedRecord, intentRecord } from "@antiphon/contracts/testing/records";
import { openWorld, type World } from "../integration/gateway/gateway-world.ts";

const RUNS = 10_000;
const OPEN = 2_000;
const AT_ONCE = 64;
const ROUNDS = 9;

interface Page {
  readonly runs: { readonly runId: string }[];
  readonly next: string | null;
}

async function fill(world: World): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < RUNS) {
      const at = next++;
      const runId = `run_${String(at).padStart(8, "0")}`;
      await world.journal.append(intentRecord(runId, `Goal number ${at}`));
      if (at % (RUNS / OPEN) !== 0) await world.journal.append(closedRecord(runId));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function pageAt(world: World, limit: number, cursor: string | null): Promise<Page & { ms: number }> {
  const answer = await world.call("GET", `/runs?limit=${limit}${cursor === null ? "" : `&cursor=${cursor}`}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return { ...(answer.body as unknown as Page), ms: answer.ms };
}

async function wholeList(
  world: World,
  limit: number,
): Promise<{ runs: number; slowest: number; ms: number }> {
  const seen = new Set<string>();
  const times: number[] = [];
  for (let cursor: string | null = null; ;) {
    const page: Page & { ms: number } = await pageAt(world, limit, cursor);
    for (const { runId } of page.runs) seen.add(runId);
    times.push(page.ms);
    if (page.next === null) break;
    cursor = page.next;
  }
  return { runs: seen.size, slowest: Math.max(...times), ms: times.reduce((sum, ms) => sum + ms, 0) };
}

function row(label: string, values: readonly number[], note = ""): void {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, median, most] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  const ms = [median, least, most].map((value = 0) => value.toFixed(1).padStart(9));
  console.log(`${label.padEnd(44)}${ms.join("")}  ${note}`);
}

export async function run(): Promise<void> {
  const world = await openWorld();
  try {
    await fill(world);
    console.log(`${RUNS} runs, ${OPEN} of them open${"".padEnd(12)}   median    least     most  (ms)`);
    row("first request of a gateway, 20 runs", [(await pageAt(world, 20, null)).ms]);
    for (const limit of [20, 100, 1_000]) {
      const cold = (await pageAt(world, limit, null)).ms;
      const warm: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) warm.push((await pageAt(world, limit, null)).ms);
      row(`newest ${limit}`, warm, `first time ${cold.toFixed(1)}`);
    }
    for (const word of ["first", "second"]) {
      const all = await wholeList(world, 1_000);
      row(
        `all ${all.runs} in pages of 1,000, ${word} time`,
        [all.ms],
        `slowest page ${all.slowest.toFixed(1)}`,
      );
    }
    const growing: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await world.journal.append(intentRecord(`run_later${round}`));
      growing.push((await pageAt(world, 20, null)).ms);
    }
    row("newest 20, a run began before each", growing);
  } finally {
    await world.close();
  }
}
