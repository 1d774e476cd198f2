/**
 * A change that skills have passed, and a target branch that moves before it lands: the change is moved to the new tip, checked
 * there, and judged there once more. What lands was judged as it lands, once, through crashes and beside a second Director.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { atNight, sized } from "../support/night.ts";
import { ANTIPHON, exitOf, start } from "./support/program.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Shown {
  readonly runId: string;
  readonly status: string;
  readonly code: string | null;
  readonly message: string;
  readonly landedOn: string | null;
}
interface Read {
  readonly type: string;
  readonly taskId: string | null;
  readonly epoch: number;
  readonly body: Record<string, unknown>;
}

const REVIEWER = "T-001-reviewer";
let stack: Stack;
let project: Project;

beforeAll(async () => {
  stack = await startQuickStack({ associates: 2 });
});
afterEach(() => project.remove());
afterAll(() => stack.stop());

const findings = (list: readonly object[]): string =>
  `printf '%s' '${JSON.stringify({ findings: list })}' > findings.json`;
const FOUND = {
  ...{ severity: "error", file: "add.js", line: 1, quote: "(a, b) => a + b" },
  why: "other.js needs it to take texts.",
};
/** Blocks the change only beside the file that the moved branch brings. */
const JUDGE = `if test -e other.js; then ${findings([FOUND])}; else ${findings([])}; fi`;

/** The author waits, so that the branch moves after the run's base is pinned and before anything lands. */
async function begin(reviewer: string, flags: readonly string[] = []): Promise<string> {
  project = makeProject(BROKEN_CALCULATOR);
  const script = `case "$ANTIPHON_TASK_ID" in *-reviewer) ${reviewer} ;; *) sleep 1; ${FIX} ;; esac`;
  const { document } = await stack.json<Shown>([
    ...["run", "Fix the broken add", "--repo", project.path, "--check", CHECK, "--gate", "reviewer"],
    ...["--land", "main", "--detach", ...flags, "--agent", "command", "--", "sh", "-c", script],
  ]);
  return document.runId;
}

let others = 0;
/** Somebody else commits to main. */
function move(path = "other.js"): string {
  project.write(path, `// somebody else's work ${(others += 1)}\n`);
  return project.commitAll("Meanwhile");
}

async function ended(runId: string): Promise<Shown> {
  return (await stack.json<Shown>(["wait", runId], { timeoutMs: 120_000 })).document;
}

async function recordsOf(runId: string): Promise<Read[]> {
  const headers = { accept: "application/json" };
  const answer = await fetch(`${stack.ready.gateway}/runs/${runId}/events`, { headers });
  return ((await answer.json()) as { records: Read[] }).records;
}

/** Calls `seen` for each record of the run until it says that it is enough, or the run ends. */
async function follow(runId: string, seen: (record: Read) => "more" | "enough"): Promise<void> {
  const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway };
  const watch = start(process.execPath, [ANTIPHON, "events", runId, "--json"], { env });
  try {
    for await (const line of createInterface({ input: watch.stdout! }))
      if (line.startsWith('{"') && seen(JSON.parse(line) as Read) === "enough") return;
  } finally {
    watch.kill("SIGKILL");
    await exitOf(watch);
  }
}

const verdictsOf = (records: readonly Read[], task: string | null) =>
  records.filter(({ type, taskId }) => type === "verdict" && taskId === task).map(({ body }) => body);
const isAgain = ({ type, taskId, epoch }: Read): boolean =>
  type === "dispatch" && taskId === REVIEWER && epoch > 1;

async function expectLandedOnce(runId: string, theirs: string): Promise<void> {
  expect(project.git("rev-parse", "main~1").trim()).toBe(theirs);
  expect(project.git("show", "main:add.js")).toContain("a + b");
  const records = await recordsOf(runId);
  expect(verdictsOf(records, REVIEWER).map(({ verdict }) => verdict)).toEqual(["PASS", "PASS"]);
  const landings = records.filter(({ type, taskId }) => type === "landing" && taskId === null);
  expect(landings.map(({ body }) => body["kind"])).toEqual(["landed"]);
  const audit = await stack.antiphon(["doctor", "--journal", "--json"]);
  expect(audit.stdout).toContain('"ok":true');
}

test("run/R10: a skill judges the moved change where it stands now, before it lands there", async () => {
  const runId = await begin(findings([]));
  const theirs = move();
  expect(await ended(runId)).toMatchObject({ status: "succeeded", landedOn: "refs/heads/main" });
  await expectLandedOnce(runId, theirs);
  const records = await recordsOf(runId);
  const [order] = records.filter(isAgain).map(({ body }) => body["gate"] as Record<string, unknown>);
  const tip = project.git("rev-parse", "main").trim();
  expect(order).toMatchObject({ skill: "reviewer", task: "T-001", attempt: 1, integration: 1, commit: tip });
  const tree = project.git("rev-parse", "main^{tree}").trim();
  expect(verdictsOf(records, REVIEWER)[1]).toMatchObject({ verdict: "PASS", tree });
  expect(project.git("status", "--porcelain")).toBe("");
});

test("what the skill finds there keeps the change from the branch, and the run says that it was judged again", async () => {
  const runId = await begin(JUDGE);
  const theirs = move();
  const end = await ended(runId);
  expect(end).toMatchObject({ status: "failed", code: "ANT_GATE_BLOCKED" });
  expect(end.message).toContain("judged again on the branch that moved: reviewer:");
  expect(end.message).toContain("other.js needs it to take texts.");
  expect(project.git("rev-parse", "main").trim()).toBe(theirs);
  expect(project.landed(runId)).toHaveLength(1);
});

test("a change that conflicts with the moved branch is judged no second time", async () => {
  const runId = await begin(findings([]));
  project.write("add.js", "module.exports = (a, b) => Number(a) - Number(b);\n");
  const theirs = project.commitAll("The same line");
  expect(await ended(runId)).toMatchObject({ status: "failed", code: "ANT_LANDING_CONFLICT" });
  expect((await recordsOf(runId)).filter(isAgain)).toEqual([]);
  expect(project.git("rev-parse", "main").trim()).toBe(theirs);
});

test("a branch that moves during each judging ends the run after three tries, each of which was judged", async () => {
  const runId = await begin(`sleep 6; ${findings([])}`); // The branch has to move meanwhile, on a slow machine too.
  let theirs = move("other-0.js");
  await follow(runId, (record) => {
    if (isAgain(record)) theirs = move(`other-${record.epoch}.js`);
    return "more";
  });
  expect(await ended(runId)).toMatchObject({ status: "failed", code: "ANT_LANDING_HEAD_MOVED" });
  expect(project.git("rev-parse", "main").trim()).toBe(theirs);
  const records = await recordsOf(runId);
  const orders = records
    .filter(isAgain)
    .map(({ body }) => (body["gate"] as { integration: number }).integration);
  expect(orders).toEqual([1, 2, 3]);
  expect(verdictsOf(records, null)).toHaveLength(3);
});

test.each<readonly [type: string, task: string | null]>([
  ["verdict", null],
  ["verdict", REVIEWER],
  ...atNight(["dispatch", REVIEWER] as const, ["result", REVIEWER] as const),
])(
  "a Director killed after the %s record of %s of the second judging neither skips nor repeats it",
  async (type, taskId) => {
    const runId = await begin(`sleep 1; ${findings([])}`);
    const theirs = move();
    await follow(runId, (record) =>
      record.type === type && record.taskId === taskId && (taskId === null || record.epoch === 2)
        ? "enough"
        : "more",
    );
    process.kill(stack.pid("director"), "SIGKILL");
    expect(await ended(runId)).toMatchObject({ status: "succeeded" });
    await expectLandedOnce(runId, theirs);
  },
);

test("two Directors have a change judged again once, and land it once", async () => {
  const pid = stack.pid("director");
  const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  const env = Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, "utf8")
      .split("\0")
      .flatMap((entry) => {
        const at = entry.indexOf("=");
        return at < 1 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
      }),
  );
  const second = start(program, args, { env, stdin: "" }); // A service ends when its stdin does.
  try {
    const times = sized(1, 3);
    for (let n = 0; n < times; n += 1) {
      const runId = await begin(findings([]));
      const theirs = move();
      expect(await ended(runId)).toMatchObject({ status: "succeeded" });
      await expectLandedOnce(runId, theirs);
      if (n + 1 < times) project.remove();
    }
    expect([second.exitCode, second.signalCode]).toEqual([null, null]);
  } finally {
    second.kill("SIGTERM");
    await exitOf(second);
  }
});
