/** The runs of a race that another one has won end without anybody who watches, and never before that. */
import { afterEach, expect, it } from "vitest";
import type { ClosedBody } from "@antiphon/contracts";
import { closedRecord, intentRecord } from "@antiphon/contracts/testing/records";
import { createLogger, type Blobs } from "@antiphon/runtime";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { RaceWatch } from "../../../services/director/src/landing/race-watch.ts";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";

const RACE = `race_${"x".repeat(20)}`;
const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
const silent = createLogger("test", { level: "silent" });

afterEach(() => cleanUpRepos());

async function world() {
  const repo = makeRepo();
  const journal = new MemoryJournal();
  const hints: string[] = [];
  const parts = {
    journal,
    repository: new Repositories(null as unknown as Blobs, { roots: null }, signer, silent),
    log: silent,
    hintCancel: (runId: string) => void hints.push(runId),
  };
  const enter = async (watch: RaceWatch, runId: string, race = RACE): Promise<void> => {
    const record = intentRecord(runId, "do it", { options: { race } });
    if (record.type !== "intent") throw new Error("no intent");
    const base = { ...record.body.base, repo: { name: "r", path: repo.path } };
    await journal.append({ ...record, body: { ...record.body, base } });
    watch.note(runId, { ...record.body, base });
  };
  const close = (runId: string, status: ClosedBody["status"]) =>
    journal.append(closedRecord(runId, { status }));
  const decide = (runId: string, branch = RACE) => {
    const commit = repo.commit(`The fix\n\nAntiphon-Run: ${runId}`, { "who.txt": runId });
    repo.git("update-ref", `refs/heads/antiphon/${branch}`, commit);
  };
  const cancelOf = async (runId: string) => (await journal.read(runId, ["cancel"]))[0]?.body ?? null;
  const first = new RaceWatch(parts);
  await enter(first, "run_a");
  await enter(first, "run_b");
  return { parts, first, enter, close, decide, cancelOf, hints };
}

it("director/D13: ends the other runs once the winner's success is in the journal, and not before", async () => {
  const { first, close, decide, cancelOf, hints } = await world();
  expect(await first.look()).toBe("more");
  decide("run_a"); // It has the branch, and may still fail.
  expect(await first.look()).toBe("more");
  expect(await cancelOf("run_b")).toBeNull();
  await close("run_a", "succeeded");
  expect(await first.look()).toBe("nothing");
  expect(await cancelOf("run_b")).toMatchObject({ by: "director", code: "ANT_RACE_LOST" });
  expect(await cancelOf("run_a")).toBeNull();
  expect(hints).toEqual(["run_b"]);
});

it("director/D13: ends no run if the one that has the branch failed, or is in another race", async () => {
  const { first, enter, close, decide, cancelOf, hints } = await world();
  decide("run_a");
  await close("run_a", "failed");
  expect(await first.look()).toBe("more");
  await enter(first, "run_c", `race_${"y".repeat(20)}`);
  decide("run_c");
  await close("run_c", "succeeded");
  expect(await first.look()).toBe("more");
  expect([await cancelOf("run_b"), hints]).toEqual([null, []]);
});

it("director/D13: ends the others once the run that took the race over from a failed one has succeeded", async () => {
  const { first, enter, close, decide, cancelOf } = await world();
  await enter(first, "run_c");
  decide("run_a");
  await close("run_a", "failed");
  decide("run_b", `${RACE}-2`);
  await first.look();
  expect(await cancelOf("run_c")).toBeNull();
  await close("run_b", "succeeded");
  expect(await first.look()).toBe("nothing");
  expect(await cancelOf("run_c")).toMatchObject({ code: "ANT_RACE_LOST" });
});

it("leaves a run alone that has ended or was canceled by a person", async () => {
  const { first, close, decide, cancelOf, hints } = await world();
  await close("run_b", "failed");
  decide("run_a");
  await close("run_a", "succeeded");
  expect(await first.look()).toBe("nothing");
  expect([await cancelOf("run_b"), hints]).toEqual([null, []]);
});

it("stores one end of a run that two Directors watch", async () => {
  const { parts, first, enter, close, decide } = await world();
  const second = new RaceWatch(parts);
  await enter(second, "run_b");
  decide("run_a");
  await close("run_a", "succeeded");
  await Promise.all([first.look(), second.look()]);
  expect([await first.look(), await second.look()]).toEqual(["nothing", "nothing"]);
  expect(await parts.journal.read("run_b", ["cancel"])).toHaveLength(1);
});
