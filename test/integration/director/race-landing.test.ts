/** Which run of a race lands is decided by one branch, also when the Director dies in the middle. */
import { afterEach, expect, it } from "vitest";
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
  const commitOf = (runId: string): string => {
    const commit = repo.commit(runId, { "who.txt": runId });
    repo.git("reset", "--quiet", "--hard", base);
    return commit;
  };
  const landRun = (runId: string, commit: string) => {
    const intent = { base: { commit: base, repo: { name: "r", path: repo.path } }, options: { race: RACE } };
    const run = { runId, head: base, facts: { intent } } as unknown as RunState;
    const effect = { kind: "land", phase: { verdict: { commit } } } as unknown as EffectOf<"land">;
    return land(run, effect, { repository });
  };
  return { repo, commitOf, landRun };
}

it("lets exactly one of several runs land, which are ready at the same moment", async () => {
  const { repo, commitOf, landRun } = world();
  const runs = ["run_a", "run_b", "run_c", "run_d"].map((runId) => ({ runId, commit: commitOf(runId) }));
  const ends = await Promise.all(runs.map(({ runId, commit }) => landRun(runId, commit)));
  const landed = ends.filter(({ kind }) => kind === "landed");
  expect(landed).toHaveLength(1);
  for (const end of ends) if (end.kind === "refused") expect(end.code).toBe("ANT_RACE_LOST");
  const refs = repo.git("for-each-ref", "--format=%(refname)", "refs/heads/antiphon/").trim().split("\n");
  expect(refs).toEqual([`refs/heads/antiphon/${RACE}`, landed[0]?.kind === "landed" ? landed[0].ref : ""]);
});

it("lands on the second try if the Director died after the race was decided", async () => {
  const { repo, commitOf, landRun } = world();
  const [mine, other] = [commitOf("run_a"), commitOf("run_b")];
  repo.git("update-ref", `refs/heads/antiphon/${RACE}`, mine);
  expect(await landRun("run_b", other)).toMatchObject({ kind: "refused", code: "ANT_RACE_LOST" });
  const landed = { kind: "landed", ref: "refs/heads/antiphon/run_a", commit: mine };
  expect(await landRun("run_a", mine)).toMatchObject(landed);
  expect(await landRun("run_a", mine)).toMatchObject(landed);
});
