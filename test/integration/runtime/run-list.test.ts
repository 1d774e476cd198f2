/** The list of runs, page by page, over a real journal that grows and is archived meanwhile. */
import { intentRecord } from "@antiphon/contracts/testing/records";
import {
  openJournal,
  openRunArchive,
  openRunOrder,
  openRunRestore,
  openSigningKey,
  provision,
  type Bus,
  type Journal,
  type RunCursor,
  type RunOrder,
} from "@antiphon/runtime";
import { finishRun, openRun } from "@antiphon/runtime/testing/finished-run";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startNats, type NatsServer } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let journal: Journal;
let count = 0;

beforeEach(() => (count = 0));
afterEach(() => server.close());

async function world(partitions: number): Promise<void> {
  server = await startNats();
  bus = await server.connect();
  await provision(bus, { partitions });
  journal = openJournal(bus, { key: openSigningKey(null) });
}

const newRun = (): string => `run_list${String((count += 1)).padStart(4, "0")}`;

async function started(many: number): Promise<string[]> {
  const runs = Array.from({ length: many }, newRun);
  for (const runId of runs) await journal.append(intentRecord(runId));
  return runs;
}

async function archived(many: number): Promise<string[]> {
  const runs = Array.from({ length: many }, newRun);
  for (const runId of runs) {
    await openRun(journal, runId);
    await finishRun(journal, runId);
    await archive(runId);
  }
  return runs;
}

async function archive(runId: string): Promise<void> {
  const archiver = openRunArchive(bus, openJournal(bus));
  const soon = new Date(Date.now() + 60_000);
  await archiver.purge(await archiver.record(await archiver.pack([runId], soon)));
}

/** Every page, with `meanwhile` before each but the first. */
async function pages(
  limit: number,
  meanwhile: (page: number) => Promise<void> = () => Promise.resolve(),
  order: () => RunOrder = () => openRunOrder(bus),
): Promise<string[][]> {
  const all: string[][] = [];
  for (let cursor: RunCursor | null = null; ;) {
    if (all.length > 0) await meanwhile(all.length);
    const { runIds, next } = await order().page(limit, cursor);
    all.push([...runIds]);
    if (next === null) return all;
    cursor = JSON.parse(JSON.stringify(next)) as RunCursor; // as a client sends it back
  }
}

describe.each([1, 4])("the list of runs over %i partitions", (partitions) => {
  test("holds each run once, the newest first, then the archived ones, the last archived first", async () => {
    await world(partitions);
    const gone = await archived(5);
    const runs = await started(12);
    const wanted = [...runs.toReversed(), ...gone.toReversed()];
    for (const limit of [1, 4, 12, 17, 100]) {
      const listed = await pages(limit);
      expect(listed.flat(), `pages of ${limit}`).toEqual(wanted);
      expect(listed.every((page, at) => page.length === limit || at === listed.length - 1)).toBe(true);
    }
    expect((await pages(17)).length, "no empty page follows the last run").toBe(1);
    expect((await pages(12)).length).toBe(2);
  });

  test("stays the same while runs begin, are archived and are restored, also through another gateway", async () => {
    await world(partitions);
    const gone = await archived(4);
    const runs = await started(8);
    const [, ended] = runs;
    if (ended === undefined) throw new Error("unreachable");
    await finishRun(journal, ended);
    const one = openRunOrder(bus);
    let page = 0;
    const listed = await pages(
      2,
      async (at) => {
        await started(3);
        if (at === 1) await archive(ended);
        if (at === 3) await openRunRestore(bus, openJournal(bus)).restore(gone[0] ?? "", "ann");
      },
      () => ((page += 1) % 2 === 0 ? openRunOrder(bus) : one),
    );
    expect(listed.flat()).toEqual([...runs.toReversed(), ...gone.toReversed()]);
  });

  test("has a run that was archived again at its last place only", async () => {
    await world(partitions);
    const [first = "", second = ""] = await archived(2);
    await openRunRestore(bus, openJournal(bus)).restore(first, "ann");
    await archive(first);
    expect((await pages(1)).flat()).toEqual([first, second]);
  });
});
