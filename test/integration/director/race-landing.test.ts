/** Which run of a race lands is decided by its branches, also when the Director dies in the middle or the first one fails. */
import { afterEach, expect, it } from "vitest";
import { closedRecord, intentRecord } from "@antiphon/contracts/testing/records";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import type { ClosedBody } from "@antiphon/contracts";
import type { EffectOf, RunState } from "@antiphon/run";
import { createLogger, type Blobs } from "@antiphon/runtime";
import { land } from "../../../services/director/src/landing/landing.ts";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";

const RACE = `race_${"x".repeat(20)}`;
const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };

afterEach(() => cleanUpRepos());

function world() {
  const repo = makeRepo();
  const base = repo.head;
  const log = createLogger("test", { level: "silent" });
  const repository = new Repositories(null as unknown as Blobs, { roots: null }, signer, log);
  const journal = new MemoryJournal();
  const enter = (runId: string, race = RACE) =>
    journal.append(intentRecord(runId, "do it", { options: { race } }));
  const close = (runId: string, status: ClosedBody["status"]) =>
    journal.append(closedRecord(runId, { status }));
  const commitOf = (runId: string): string => {
    const commit = repo.commit(`The fix\n\nAntiphon-Run: ${runId}`, { "who.txt": runId });
    repo.git("reset", "--quiet", "--hard", base);
    return commit;
  };
  const landRun = (runId: string, commit: string) => {
    const intent = { base: { commit: base, repo: { name: "r", path: repo.path } }, options: { race: RACE } };
    const run = { runId, head: base, facts: { intent } } as unknown as RunState;
    const effect = { kind: "land", phase: { verdict: { commit } } } as unknown as EffectOf<"land">;
    return land(run, effect, { repository, journal });
  };
  return { repo, commitOf, landRun, enter, close };
}

const undecided = expect.objectContaining({ code: "ANT_RACE_UNDECIDED" }) as Error;

it("lets exactly one of several runs land, which are ready at the same moment; the others wait for its end", async () => {
  const { repo, commitOf, landRun, enter, close } = world();
  const runs = ["run_a", "run_b", "run_c", "run_d"].map((runId) => ({ runId, commit: commitOf(runId) }));
  for (const { runId } of runs) await enter(runId);
  const ends = await Promise.allSettled(runs.map(({ runId, commit }) => landRun(runId, commit)));
  const first = ends.findIndex(({ status }) => status === "fulfilled");
  for (const [n, end] of ends.entries())
    if (n !== first) expect(end).toEqual({ status: "rejected", reason: undecided });
  const winner = runs[first]!;
  expect(await landRun(winner.runId, winner.commit)).toMatchObject({ kind: "landed" });
  await close(winner.runId, "succeeded");
  for (const { runId, commit } of runs)
    if (runId !== winner.runId)
      expect(await landRun(runId, commit)).toMatchObject({ kind: "refused", code: "ANT_RACE_LOST" });
  const refs = repo.git("for-each-ref", "--format=%(refname)", "refs/heads/antiphon/").trim().split("\n");
  expect(refs).toEqual([`refs/heads/antiphon/${RACE}`, `refs/heads/antiphon/${winner.runId}`]);
});

it("lands on the second try if the Director died after the race was decided", async () => {
  const { repo, commitOf, landRun, enter } = world();
  const [mine, other] = [commitOf("run_a"), commitOf("run_b")];
  await enter("run_a");
  repo.git("update-ref", `refs/heads/antiphon/${RACE}`, mine);
  await expect(landRun("run_b", other)).rejects.toEqual(undecided);
  const landed = { kind: "landed", ref: "refs/heads/antiphon/run_a", commit: mine };
  expect(await landRun("run_a", mine)).toMatchObject(landed);
  expect(await landRun("run_a", mine)).toMatchObject(landed);
});

async function takenOver(status: "failed" | "canceled"): Promise<void> {
  const { repo, commitOf, landRun, enter, close } = world();
  const [first, second, third, late] = ["run_a", "run_b", "run_c", "run_d"].map(
    (runId) => [runId, commitOf(runId)] as const,
  ) as [[string, string], [string, string], [string, string], [string, string]];
  for (const [runId] of [first, second, third, late]) await enter(runId);
  expect(await landRun(...first)).toMatchObject({ kind: "landed" }); // Its own branch; then it fails on its target branch.
  await expect(landRun(...second)).rejects.toEqual(undecided);
  await close("run_a", status);
  const both = await Promise.allSettled([landRun(...second), landRun(...third)]);
  expect(both.map(({ status: end }) => end).toSorted()).toEqual(["fulfilled", "rejected"]);
  const heirs = both[0].status === "fulfilled" ? [second, third] : [third, second];
  const [heir, other] = heirs as [[string, string], [string, string]];
  expect(await landRun(...heir)).toMatchObject({ kind: "landed" }); // The Director died before it stored the record.
  await expect(landRun(...other)).rejects.toEqual(undecided);
  await close(heir[0], "succeeded");
  for (const one of [other, late])
    expect(await landRun(...one)).toMatchObject({ kind: "refused", code: "ANT_RACE_LOST" });
  expect(repo.git("rev-parse", `antiphon/${RACE}`, `antiphon/${RACE}-2`).trim().split("\n")).toEqual([
    first[1],
    heir[1],
  ]);
}

it("director/D13: a run takes over from one that has failed, one at a time, and nobody from one that has succeeded", () =>
  takenOver("failed"));

it("a run takes over from one that was canceled, one at a time, and nobody from one that has succeeded", () =>
  takenOver("canceled"));

it("passes over a branch that no run of the race has made, and holds the race with the next one", async () => {
  const { repo, commitOf, landRun, enter } = world();
  const [mine, other, third] = [commitOf("run_a"), commitOf("run_x"), commitOf("run_b")];
  await enter("run_a");
  await enter("run_b");
  await enter("run_x", `race_${"y".repeat(20)}`);
  repo.git("update-ref", `refs/heads/antiphon/${RACE}`, other);
  expect(await landRun("run_a", mine)).toMatchObject({ kind: "landed" });
  expect(repo.git("rev-parse", `antiphon/${RACE}-2`).trim()).toBe(mine);
  await expect(landRun("run_b", third)).rejects.toEqual(undecided);
});

it("director/D13: is lost to the run that has won, also after people have added commits to its branch", async () => {
  const { repo, commitOf, landRun, enter, close } = world();
  const [first, second] = [commitOf("run_a"), commitOf("run_b")];
  await enter("run_a");
  await enter("run_b");
  expect(await landRun("run_a", first)).toMatchObject({ kind: "landed" });
  await close("run_a", "succeeded");
  repo.git("reset", "--quiet", "--hard", first);
  repo.git("update-ref", `refs/heads/antiphon/${RACE}`, repo.commit("By hand", { "more.txt": "more" }));
  expect(await landRun("run_b", second)).toMatchObject({ kind: "refused", code: "ANT_RACE_LOST" });
});
