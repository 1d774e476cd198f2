import { AntiphonError, type PlannedTask, type RunOptions } from "@antiphon/contracts";
import { openRun, replay } from "@antiphon/run";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { describe, expect, it } from "vitest";
import { POLICY } from "../testing/directing.ts";
import { MissingCriteria } from "./missing-criteria-error.ts";
import { requireCriteria } from "./missing-criteria.ts";

const APPROVALS = { needed: 1 };

interface Task {
  readonly kind?: PlannedTask["task"]["kind"];
  readonly mode?: "smoke" | "none";
  readonly check?: string;
  readonly criterion?: string;
  readonly people?: true;
}

const task = (
  id: string,
  { kind = "edit_repo", mode = "smoke", check, criterion, people }: Task,
): PlannedTask => {
  const plan = planned(id);
  const verify_profile = { mode, commands: check === undefined ? [] : [check] };
  return {
    ...plan,
    task: { ...plan.task, kind, verify_profile },
    ...(criterion === undefined ? {} : { criteria: [{ criterion, check: null }] }),
    ...(people === undefined ? {} : { approvals: APPROVALS }),
  };
};

interface World {
  readonly tasks: readonly Task[];
  readonly options?: Partial<RunOptions>;
  readonly found?: string[];
  /** Of the repository. */
  readonly files?: Readonly<Record<string, string>>;
  /** The first task has been dispatched, and the last one is due. */
  readonly begun?: boolean;
}

/** What keeps the run from its first container; null: it goes on. */
async function stopOf({
  tasks,
  options = {},
  found = [],
  files = {},
  begun = false,
}: World): Promise<AntiphonError | null> {
  const log = new RecordLog().opened(
    tasks.map((one, i) => task(`T-00${i + 1}`, one)),
    options,
  );
  if (begun) log.dispatched("T-001");
  const { context } = replay(openRun(log.runId, POLICY), log.records);
  const due = begun ? context.tasks.at(-1) : context.tasks[0];
  if (due === undefined) throw new Error("a run has tasks");
  const repository = {
    discoverChecks: () => Promise.resolve(found),
    texts: () => Promise.resolve(new Map(Object.entries(files))),
  };
  return requireCriteria(context, due, repository).then(
    () => null,
    (error: unknown) => AntiphonError.from(error),
  );
}

async function askedBy(world: World): Promise<MissingCriteria> {
  const stop = await stopOf(world);
  if (!(stop instanceof MissingCriteria)) throw new Error(`nobody is asked: ${String(stop)}`);
  return stop;
}

describe("before the first container", () => {
  it.each<[string, World]>([
    ["a check was given", { tasks: [{ check: "npm test" }] }],
    ["a check is found", { tasks: [{}], found: ["npm test"] }],
    [
      "the caller allows a change that nothing verifies",
      { tasks: [{}], options: { allow_unverified: true } },
    ],
    ["the task changes nothing", { tasks: [{ kind: "inspect" }] }],
    ["the task delivers a file", { tasks: [{ mode: "none" }] }],
    [
      "people approve the run",
      { tasks: [{ check: "c", criterion: "Fast" }], options: { approvals: APPROVALS } },
    ],
    ["people approve the task", { tasks: [{ check: "c", criterion: "Fast", people: true }] }],
    ["the task without one is another one, and work has begun", { tasks: [{}, { check: "c" }], begun: true }],
  ])("a run goes on if %s", async (_name, world) => {
    expect(await stopOf(world)).toBeNull();
  });

  it.each<[string, World, string]>([
    ["there is no check", { tasks: [{}] }, "no check was named and none was found"],
    [
      "there is no check, whoever approves",
      { tasks: [{ people: true }] },
      "no check was named and none was found",
    ],
    [
      "a later task has none",
      { tasks: [{ check: "c" }, {}] },
      "T-002: no check was named and none was found",
    ],
    [
      "no check decides a criterion, although there is one",
      { tasks: [{ check: "c", criterion: "Fast" }] },
      'no check decides "Fast"',
    ],
  ])("a person is asked if %s, or the run ends if its caller wants that", async (_name, world, says) => {
    expect((await askedBy(world)).message).toContain(says);
    const stop = await stopOf({ ...world, options: { end_without_check: true } });
    expect(stop).not.toBeInstanceOf(MissingCriteria);
    expect(stop?.message).toContain(says);
    expect(stop?.message).toContain("no agent was started");
  });

  it("one question is about all tasks without a check, and belongs to the first of them", async () => {
    const { code, taskId, epoch, asks } = await askedBy({ tasks: [{ check: "c" }, {}, {}] });
    expect([code, taskId, epoch]).toEqual(["ANT_VERIFY_NO_CHECK", "T-002", 1]);
    const question =
      'Which command proves T-002, T-003? No check was named and none was found. Answer with a command, or with "unverified" to take the change without proof.';
    expect(asks).toEqual([{ question, tasks: ["T-002", "T-003"] }]);
  });

  it("the question proposes what the repository names beside tests", async () => {
    const scripts = { test: 'echo "Error: no test specified" && exit 1', lint: "eslint .", start: "node ." };
    const files = {
      "package.json": JSON.stringify({ scripts }),
      Makefile: "check := 1\nbuild: all\n\tcc x.c\n",
    };
    const [ask] = (await askedBy({ tasks: [{}], files })).asks;
    expect(ask?.question).toContain("Which command proves the change?");
    expect(ask?.question).toContain("perhaps `npm run lint` or `make build`, or with");
    const [pnpm] = (await askedBy({ tasks: [{}], files: { ...files, "pnpm-lock.yaml": "" } })).asks;
    expect(pnpm?.question).toContain("perhaps `pnpm run lint` or `make build`, or with");
    const [plain] = (await askedBy({ tasks: [{}], files: { "package.json": "{" } })).asks;
    expect(plain?.question).not.toContain("perhaps");
  });

  it("each criterion is a question of its own, which proposes the checks and keeps those that were found", async () => {
    const tasks = [{ criterion: "Fast" }, { criterion: "Fast" }, { criterion: "Small", check: "c" }];
    const { code, asks } = await askedBy({ tasks, found: ["npm test"] });
    expect([code, asks]).toMatchObject([
      "ANT_VERIFY_CRITERION",
      [
        { tasks: ["T-001", "T-002"], criterion: "Fast", found: ["npm test"] },
        { tasks: ["T-003"], criterion: "Small" },
      ],
    ]);
    expect(asks[0]?.question).toContain('Which command decides "Fast"? No check of T-001, T-002 does.');
    expect(asks[0]?.question).toContain("perhaps `npm test`");
    expect(asks[1]).not.toHaveProperty("found");
  });

  it("a task keeps the checks that were found for it beside a task that names its own", async () => {
    const tasks = [{ criterion: "Fast", check: "c" }, { criterion: "Fast" }];
    const { asks } = await askedBy({ tasks, found: ["npm test"] });
    expect(asks).toMatchObject([
      { tasks: ["T-001"], criterion: "Fast" },
      { tasks: ["T-002"], criterion: "Fast", found: ["npm test"] },
    ]);
  });
});
