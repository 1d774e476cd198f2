import { AntiphonError, digestOf, limits, type SandboxOutcome, type StoredRecord } from "@antiphon/contracts";
import { MemoryBlobs } from "@antiphon/runtime/testing/memory-blobs";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { afterEach, expect, test, vi } from "vitest";
import { CleanRoom } from "./clean-room.ts";
import { CausedRecords } from "../testing/caused-records.ts";
import { BASE, RecordLog, commitOf, planned } from "@antiphon/run/testing/record-log";
import { performOver } from "../effects/effect-table.ts";
import { directorOver } from "../testing/directing.ts";

const PATCH = Buffer.from("a patch");

afterEach(() => void vi.useRealTimers());

/** The runner's outcome of a stopped job, regardless of who stopped it. */
const stopped = (message: string): SandboxOutcome => ({
  outcome: "canceled",
  code: "ANT_SANDBOX_CANCELED",
  message,
  steps: [],
  changes: null,
  meta: { bootMs: 1, provider: "docker", node: "sr_test", image: "img", containerId: "c1" },
});

const proposed = (): RecordLog => {
  const run = new RecordLog()
    .opened([planned("T-001")])
    .dispatched("T-001")
    .claimed("T-001")
    .reported("T-001", 1, "ok");
  const last = run.records.at(-1);
  if (last?.type !== "result") throw new Error("unreachable");
  const patch = { bucket: "ANT_EVIDENCE_FILES", name: "p", digest: digestOf(PATCH), bytes: PATCH.length };
  Object.assign(last.body, { patch });
  return run;
};

/** The run's one task has landed, and its target branch has moved. */
const integrating = (): RecordLog =>
  new RecordLog()
    .opened([planned("T-001")], { land_on: "main" })
    .dispatched("T-001")
    .claimed("T-001")
    .reported("T-001", 1, "ok")
    .judged("T-001", 1, { commit: commitOf(1) })
    .landed("T-001", 1, commitOf(1));

/** A Director with the real clean room; `sandbox` takes the place of the sandbox-runner. */
async function begin(run: RecordLog, sandbox: (signal: AbortSignal) => Promise<SandboxOutcome>) {
  const journal = new MemoryJournal();
  const records = new CausedRecords(journal);
  const stored = await records.store(run);
  const none = (): never => {
    throw new AntiphonError("ANT_JOURNAL_GAP", "not asked for here");
  };
  const perform = performOver({
    journal,
    repository: {
      inspect: none,
      texts: none,
      land: none,
      commit: none,
      runsOf: none,
      discoverChecks: none,
      otherChecks: none,
      diff: none,
      exportHistory: none,
      exportNamed: none,
      openedFiles: () => Promise.resolve([]),
      follow: () => Promise.resolve(null),
      tip: () => Promise.resolve(commitOf(7)),
      replayOnto: () => Promise.resolve({ kind: "replayed", commit: commitOf(8), tree: BASE, commits: [] }),
      exportBase: (_repo, commit) =>
        Promise.resolve({ commit, tree: BASE, object: `tree-${commit}.tar`, bytes: 0, files: 0 }),
      candidate: () =>
        Promise.resolve({
          kind: "candidate",
          unproven: [],
          guards: [],
          judges: [],
          tests: [],
          chance: null,
          aware: [],
          files: [],
          candidate: { tree: BASE, objects: [], overlay: [], deletions: [] },
        }),
    },
    room: new CleanRoom({ run: (_job, { signal }) => sandbox(signal) }, new MemoryBlobs()),
    evidence: { store: none, artifact: none, keep: none, patch: () => Promise.resolve(PATCH) },
    letters: { bury: none },
  });
  const over = directorOver(journal, perform);
  const deliver = (signal?: AbortSignal) => over.deliver(stored.at(-1) as StoredRecord, { signal });
  const written = () => journal.records.slice(stored.length).map(({ type }) => type);
  return { records, deliver, written };
}

test.each([
  ["of a proposal", proposed],
  ["of a whole run", integrating],
])(
  "director/D4: a verification %s whose runner stops by itself yields no verdict and is tried again",
  async (_, run) => {
    for (const reason of ["the runner stops", "the requester went silent"]) {
      const { deliver, written } = await begin(run(), () => Promise.resolve(stopped(reason)));
      expect(await deliver()).toMatchObject({ kind: "retry", code: "ANT_SANDBOX_FAILED" });
      expect(written()).toEqual([]);
    }
  },
);

test("a clean room stopped by a cancel of its run yields no verdict", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let entered = (): void => undefined;
  const isIn = new Promise<void>((resolve) => (entered = resolve));
  const run = proposed();
  const { records, deliver, written } = await begin(run, (signal) => {
    entered();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve(stopped("canceled by the requester")));
    });
  });
  const outcome = deliver();
  await isIn;
  await records.store(run.canceled());
  await vi.advanceTimersByTimeAsync(limits.claimHeartbeatMs);
  expect(await outcome).toMatchObject({ kind: "retry", code: "ANT_RUN_CANCELED" });
  expect(written()).toEqual(["cancel"]);
});

test("director/D4: a clean room that a stopping Director left yields no verdict", async () => {
  const stop = new AbortController();
  const { deliver, written } = await begin(proposed(), () => {
    stop.abort();
    return Promise.resolve(stopped("canceled by the requester"));
  });
  expect(await deliver(stop.signal)).toMatchObject({ kind: "retry", code: "ANT_SANDBOX_CANCELED" });
  expect(written()).toEqual([]);
});
