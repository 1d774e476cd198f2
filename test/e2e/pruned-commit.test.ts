/**
 * A verified change that waits for approval is a commit that no branch holds, so `git gc --prune=now` removes it. The run
 * must then end at once with the reason, or be canceled at once; the remedy of the error lands the change, once.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunStep } from "@antiphon/contracts";
import { eventually } from "./support/program.ts";
import { BROKEN_CALCULATOR, fixing, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

/** Shorter than every lease and retry that could end the run later. */
const AT_ONCE_MS = 10_000;
const ANN = { env: { ANTIPHON_TOKEN: "ann-s-own-s3cret" } };
const BEN = { env: { ANTIPHON_TOKEN: "ben-s-own-s3cret" } };

let stack: Stack;
const projects: Project[] = [];

beforeAll(async () => {
  const ANTIPHON_TOKENS = "ann:ann-s-own-s3cret,ben:ben-s-own-s3cret";
  stack = await startQuickStack({ env: { ANTIPHON_TOKEN: "deployment-s3cret", ANTIPHON_TOKENS } });
});
afterAll(async () => {
  for (const project of projects) project.remove();
  await stack.stop();
});

interface View {
  readonly status: string;
  readonly steps: RunStep[];
}

async function look(runId: string): Promise<View> {
  const headers = { authorization: `Bearer ${ANN.env.ANTIPHON_TOKEN}`, accept: "application/json" };
  return (await stack.http("GET", `/runs/${runId}`, undefined, headers)).body as unknown as View;
}

const untilStatus = (runId: string, status: string, withinMs?: number): Promise<View> =>
  eventually(
    `${runId} is ${status}`,
    async () => {
      const view = await look(runId);
      return view.status === status ? view : null;
    },
    withinMs,
  );

interface Held {
  readonly runId: string;
  readonly project: Project;
  /** The verified commit; no ref of the repository reaches it. */
  readonly commit: string;
}

/** A run of ann's that waits for approval: its verdict is PASS. */
async function held(branch: string | null): Promise<Held> {
  const project = makeProject(BROKEN_CALCULATOR);
  projects.push(project);
  if (branch !== null) project.git("checkout", "--quiet", "-b", branch);
  const land = branch === null ? [] : ["--land", branch];
  const args = [...fixing(project), "--require-approval", ...land];
  const { code, document } = await stack.json<{ runId: string; status: string }>(args, ANN);
  expect([code, document], JSON.stringify(document)).toMatchObject([3, { status: "waiting_input" }]);
  const [step] = (await look(document.runId)).steps;
  expect(step).toMatchObject({ verdict: "PASS", approval: { state: "pending" } });
  const commit = String(step?.approval?.commit);
  expect(project.git("cat-file", "-t", commit).trim()).toBe("commit");
  return { runId: document.runId, project, commit };
}

function prune({ project, commit }: Held): void {
  project.git("gc", "--quiet", "--prune=now");
  project.git("prune", "--expire=now");
  expect(() => project.git("cat-file", "-e", commit)).toThrow();
}

/** Everything that the repository's refs reach. */
const everything = (project: Project): string => project.git("log", "--all", "--format=%H %D %s");

describe.each([
  ["the run's own branch", null],
  ["a checked-out branch", "topic"],
])("a verified commit for %s, pruned before it landed", (_where, branch) => {
  test("ends its run at once after the approval; `antiphon retry` lands the change once", async () => {
    const run = await held(branch);
    const before = everything(run.project);
    prune(run);
    const said = await stack.antiphon(["approve", run.runId], BEN);
    expect(said.code, said.stderr).toBe(0);
    const view = await untilStatus(run.runId, "failed", AT_ONCE_MS);
    expect(view.steps[0]).toMatchObject({
      verdict: "PASS",
      code: "ANT_LANDING_COMMIT_GONE",
      message: `${run.commit} is not in the repository any more`,
      commit: null,
    });
    const got = await stack.antiphon(["get", run.runId], ANN);
    expect(got.stdout).toMatch(/why {3}ANT_LANDING_COMMIT_GONE: .*\n *remedy: .*`antiphon retry/);
    expect(everything(run.project)).toBe(before);

    const { document } = await stack.json<{ runId: string }>(["retry", run.runId], ANN);
    await untilStatus(document.runId, "waiting_input");
    expect((await stack.antiphon(["approve", document.runId], BEN)).code).toBe(0);
    await untilStatus(document.runId, "succeeded");
    const [landed, ...others] = run.project.landed(document.runId);
    expect(others).toEqual([]);
    expect(run.project.git("show", `${String(landed)}:add.js`)).toContain("a + b");
    expect(run.project.landed(run.runId)).toEqual([]);
    if (branch !== null) expect(run.project.git("rev-parse", branch).trim()).toBe(landed);
  });

  test("does not delay a cancel", async () => {
    const run = await held(branch);
    const before = everything(run.project);
    prune(run);
    const said = await stack.antiphon(["cancel", run.runId], ANN);
    expect(said.code, said.stderr).toBe(0);
    await untilStatus(run.runId, "canceled", AT_ONCE_MS);
    expect(everything(run.project)).toBe(before);
  });
});
