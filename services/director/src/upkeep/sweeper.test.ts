import { AntiphonError } from "@antiphon/contracts";
import { closedRecord, intentRecord } from "@antiphon/contracts/testing/records";
import { describe, expect, test, vi } from "vitest";
import { sweepForever } from "./sweeper.ts";
import { noTimers, silent, toDispatch } from "../testing/directing.ts";

describe("sweep", () => {
  const ALL = Number.MAX_SAFE_INTEGER;
  const inAMinute = (upTo: number) => async () => () => ({ at: new Date(Date.now() + 60_000), upTo });

  const sweepOnce = async (
    timing: { quietMs: number; patienceMs?: number },
    upTo = ALL,
    timers: typeof noTimers = noTimers,
  ) => {
    const parts = await toDispatch(async () => undefined);
    const stop = new AbortController();
    const sleep = async () => stop.abort();
    await sweepForever(
      { ...parts, timers, log: silent, progress: inAMinute(upTo), sleep },
      { everyMs: 1, patienceMs: 1_000_000, ...timing },
      stop.signal,
    );
    return parts.dispatches();
  };

  test("director/D6: continues a run that no delivery will move any more", async () => {
    expect(await sweepOnce({ quietMs: 30_000 })).toBe(1);
  });

  test("director/D6: continues it also while no timer can be stored", async () => {
    const keep = () => Promise.reject(new AntiphonError("ANT_NATS_UNREACHABLE", "full"));
    expect(await sweepOnce({ quietMs: 30_000 }, ALL, { ...noTimers, keep })).toBe(1);
  });

  test("forgets a run that waits for others, and reads it at its next record", async () => {
    const parts = await toDispatch(async () => undefined);
    const sweepTo = async (until: number): Promise<void> => {
      const stop = new AbortController();
      let sweeps = 0;
      const sleep = async () => void ((sweeps += 1) === until && stop.abort());
      await sweepForever(
        { ...parts, timers: noTimers, log: silent, progress: inAMinute(ALL), sleep },
        { everyMs: 60_000, quietMs: 30_000, patienceMs: 1_000_000 },
        stop.signal,
      );
    };
    const read = vi.spyOn(parts.journal, "read");
    await sweepTo(2); // The first dispatches.
    const reads = read.mock.calls.length;
    await sweepTo(9); // A fresh sweeper reads it once, and then lets it rest.
    expect(read).toHaveBeenCalledTimes(reads + 1);
    const [open] = await parts.journal.openRunIds();
    const dispatch = (await parts.journal.read(open!)).at(-1)!;
    expect(dispatch.type).toBe("dispatch");
    expect(parts.runs.fold(dispatch)).toBeNull();
    expect((await parts.runs.load(open!)).records.at(-1)?.seq).toBe(dispatch.seq);
  });

  test("director/D6: leaves a run alone whose last record is young", async () => {
    expect(await sweepOnce({ quietMs: 90_000 })).toBe(0);
  });

  test("director/D6: leaves a run alone for `patienceMs` while a delivery of it may be open", async () => {
    expect(await sweepOnce({ quietMs: 30_000, patienceMs: 90_000 }, 1)).toBe(0);
    expect(await sweepOnce({ quietMs: 30_000, patienceMs: 50_000 }, 1)).toBe(1);
    expect(await sweepOnce({ quietMs: 30_000, patienceMs: 90_000 }, 2)).toBe(1);
  });

  test("a Director whose clock is a day behind or ahead sweeps by the server's clock", async () => {
    for (const days of [-1, 1]) {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      try {
        const parts = await toDispatch(async () => undefined);
        const serverNow = Date.now() + 60_000;
        vi.setSystemTime(Date.now() + days * 86_400_000);
        const stop = new AbortController();
        const progress = async () => () => ({ at: new Date(serverNow), upTo: ALL });
        await sweepForever(
          { ...parts, timers: noTimers, log: silent, progress, sleep: async () => stop.abort() },
          { everyMs: 1, quietMs: 30_000, patienceMs: 90_000 },
          stop.signal,
        );
        expect(await parts.dispatches()).toBe(1);
      } finally {
        vi.useRealTimers();
      }
    }
  });

  test("director/D6: reads open runs only, and an unreadable one does not stop the sweep", async () => {
    const parts = await toDispatch(async () => undefined);
    const { journal } = parts;
    for (const runId of ["run_broken", "run_finished"]) await journal.append(intentRecord(runId));
    await journal.append(closedRecord("run_finished"));
    const reads: string[] = [];
    const read = journal.read.bind(journal);
    journal.read = (runId, ...rest) => {
      reads.push(runId);
      const broken = new AntiphonError("ANT_JOURNAL_CORRUPT", "seq 7");
      return runId === "run_broken" ? Promise.reject(broken) : read(runId, ...rest);
    };
    const stop = new AbortController();
    const sleep = async () => stop.abort();
    await sweepForever(
      { ...parts, timers: noTimers, log: silent, progress: inAMinute(ALL), sleep },
      { everyMs: 1, quietMs: 30_000, patienceMs: 1_000_000 },
      stop.signal,
    );
    expect(reads).toContain("run_broken");
    expect(reads).not.toContain("run_finished");
    journal.read = read;
    expect(await parts.dispatches()).toBe(1);
  });
});
