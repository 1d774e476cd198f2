import { limits } from "@antiphon/contracts";
import { createLogger, type Clock, type RunArchive, type Tidied } from "@antiphon/runtime";
import { expect, test } from "vitest";
import { archiveForever } from "./archiver.ts";

const log = createLogger("test", { level: "silent" });

/** How far the server's clock is ahead of the Director's. */
const AHEAD_MS = 7_000_000;
const NOTHING: Tidied = { packs: [], kept: [], documents: 0, more: false };

/** An archive of runs by name; one that is `broken` cannot be packed. A pack takes ten seconds. */
function archiveOf(runs: string[], broken = new Set<string>()) {
  const clock = { ms: 1_000_000, pauses: [] as number[] };
  const asked: { until: Date; limit: number }[] = [];
  const tidied: { until: Date; left: Tidied[] } = { until: new Date(0), left: [] };
  const archive: RunArchive = {
    async due(until, limit, except) {
      asked.push({ until, limit });
      return runs.filter((runId) => !except.has(runId)).slice(0, limit);
    },
    async pack(runIds) {
      clock.ms += 10_000;
      const refused = runIds.filter((runId) => broken.has(runId));
      const whole = runIds.filter((runId) => !broken.has(runId));
      return {
        runs: whole.map((runId) => ({ runId }) as Awaited<ReturnType<RunArchive["pack"]>>["runs"][number]),
        refused: refused.map((runId) => ({ runId, code: "ANT_JOURNAL_GAP", detail: "" })),
      };
    },
    record: async ({ runs: packed }) => packed,
    async purge(packed) {
      for (const { runId } of packed) runs.splice(runs.indexOf(runId), 1);
      return packed.length;
    },
    async tidy(until) {
      tidied.until = until;
      return tidied.left.shift() ?? NOTHING;
    },
    now: async () => new Date(clock.ms + AHEAD_MS),
  };
  return { archive, clock, asked, tidied };
}

/** Runs the archiver until it pauses as it does when nothing is due. */
async function untilIdle(parts: ReturnType<typeof archiveOf>, everyMs = 30_000): Promise<void> {
  const stop = new AbortController();
  const clock: Clock = {
    now: () => parts.clock.ms,
    async sleep(ms) {
      parts.clock.pauses.push(ms);
      parts.clock.ms += ms;
      if (ms === everyMs) stop.abort();
    },
  };
  await archiveForever({ archive: parts.archive, log, clock }, { afterMs: 600_000, everyMs }, stop.signal);
}

test("a round archives one pack of runs that are old enough by the server's clock, then pauses as long as it took", async () => {
  const parts = archiveOf(Array.from({ length: limits.archivePackRuns + 1 }, (_, i) => `run_${i}`));
  await untilIdle(parts);
  expect(parts.asked[0]).toEqual({ until: new Date(400_000 + AHEAD_MS), limit: limits.archivePackRuns });
  expect(parts.clock.pauses).toEqual([10_000, 10_000, 30_000]);
});

test("a run that cannot be archived is tried once and delays no other", async () => {
  const broken = ["run_a", "run_b"];
  const runs = [...broken, "run_c", "run_d"];
  const parts = archiveOf(runs, new Set(broken));
  await untilIdle(parts);
  expect(runs).toEqual(broken);
  await untilIdle(parts);
  expect(runs).toEqual(broken);
});

test("a round that fails is tried again as the next one", async () => {
  const runs = ["run_a"];
  const parts = archiveOf(runs);
  const due = parts.archive.due.bind(parts.archive);
  parts.archive.due = async () => {
    parts.archive.due = due;
    throw new Error("NATS is away");
  };
  await untilIdle(parts);
  expect(runs).toEqual(["run_a"]);
  await untilIdle(parts);
  expect(runs).toEqual([]);
});

test("archives nothing without a timing", async () => {
  const parts = archiveOf(["run_a"]);
  const clock: Clock = { now: () => 0, sleep: async () => undefined };
  await archiveForever({ archive: parts.archive, log, clock }, null, new AbortController().signal);
  expect(parts.asked).toEqual([]);
});

test("leftovers are removed at start until none is left, and then only every limits.archiveTidyS", async () => {
  const parts = archiveOf([]);
  parts.tidied.left.push({ ...NOTHING, packs: ["sha256-a"], more: true }, { ...NOTHING, documents: 3 });
  let looks = 0;
  const tidy = parts.archive.tidy.bind(parts.archive);
  parts.archive.tidy = (until) => {
    looks += 1;
    return tidy(until);
  };
  await untilIdle(parts);
  expect(looks).toBe(2);
  expect(parts.tidied.until).toEqual(new Date(1_000_000 + AHEAD_MS - 3_600_000));
  const stop = new AbortController();
  const clock: Clock = {
    now: () => parts.clock.ms,
    async sleep(ms) {
      parts.clock.ms += ms;
      if (parts.clock.ms >= 1_000_000 + 7_300_000) stop.abort();
    },
  };
  parts.clock.ms = 1_000_000;
  await archiveForever(
    { archive: parts.archive, log, clock },
    { afterMs: 600_000, everyMs: 30_000 },
    stop.signal,
  );
  expect(looks).toBe(2 + 3); // At start, after one hour, after two.
});

test("a pack without a record that alone holds a run is logged and stays", async () => {
  const parts = archiveOf([]);
  parts.tidied.left.push({ ...NOTHING, kept: [{ pack: "sha256-a", detail: "it alone holds all of run_a" }] });
  const said: string[] = [];
  const stream = { write: (line: string) => void said.push(line) };
  const stop = new AbortController();
  const clock: Clock = { now: () => parts.clock.ms, sleep: async () => stop.abort() };
  const loud = createLogger("test", { level: "warn", destination: stream });
  await archiveForever(
    { archive: parts.archive, log: loud, clock },
    { afterMs: 0, everyMs: 30_000 },
    stop.signal,
  );
  expect(said.join()).toContain("sha256-a");
  expect(said.join()).toContain("run_a");
});
