/**
 * Skills that judge a verified change before it lands: what blocks it is told to the next attempt, what passes lets it land once,
 * also through crashes, and the judge sees the change and its contract only.
 */
import { createInterface } from "node:readline";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  validateSkillResult,
  type AgentSpec,
  type Gate,
  type PolicyProfile,
  type SkillIoSchema,
  type SkillResult,
} from "@antiphon/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atNight } from "../support/night.ts";
import { patient } from "../support/patience.ts";
import { ANTIPHON, eventually, exitOf, start } from "./support/program.ts";
import { enforcePolicy } from "./support/enforce-policy.ts";
import { BROKEN_CALCULATOR, CHECK, FIX, type Project } from "./support/project.ts";
import { projectOfTest } from "./support/project-of-test.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

interface Shown {
  runId: string;
  status: string;
  code: string | null;
  message: string;
  tasks: { task: string; code: string | null; verdict: string | null; attempts: number }[];
}
interface Read {
  type: string;
  taskId: string | null;
  epoch: number;
  body: Record<string, unknown>;
}

/** As published for other programs. */
const SKILLS = fileURLToPath(new URL("../../contracts/schemas/skills", import.meta.url));

let stack: Stack;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-skills-"));

beforeAll(async () => {
  stack = await startQuickStack({ associates: 2 });
});
afterAll(async () => {
  rmSync(scratch, { recursive: true, force: true });
  await stack.stop();
});

function project(): Project {
  return projectOfTest(BROKEN_CALCULATOR);
}

/** One program that is author, reviewer and QA, by the task that it was given. */
function program(parts: { author?: string; reviewer?: string; qa?: string }): string[] {
  const { author = FIX, reviewer = findings([]), qa = report("PASS") } = parts;
  const script = [
    'case "$ANTIPHON_TASK_ID" in',
    `*-reviewer) ${reviewer} ;;`,
    `*-qa) ${qa} ;;`,
    `*) ${author} ;;`,
    "esac",
  ].join("\n");
  return ["--agent", "command", "--", "sh", "-c", script];
}

const written = (name: string, content: object): string =>
  `printf '%s' '${JSON.stringify(content)}' > ${name}`;
const findings = (list: readonly object[]): string => written("findings.json", { findings: list });
const report = (result: string, details = "it was tried"): string => written("qa.json", { result, details });
const FOUND = {
  ...{ severity: "error", file: "add.js", line: 1, quote: "(a, b) => a + b" },
  ...{ why: "It adds texts one behind the other.", suggestion: "Number(a) + Number(b)" },
};

const begun = (at: Project, flags: readonly string[], agent: readonly string[]): string[] => [
  ...["run", "Fix the broken add", "--repo", at.path, "--check", CHECK, ...flags, ...agent],
];
const run = async (at: Project, flags: readonly string[], agent: readonly string[]) =>
  (await stack.json<Shown>(begun(at, flags, agent))).document;

async function recordsOf(runId: string): Promise<Read[]> {
  const headers = { accept: "application/json" };
  const answer = await fetch(`${stack.ready.gateway}/runs/${runId}/events`, { headers });
  return ((await answer.json()) as { records: Read[] }).records;
}

const order = (records: readonly Read[]): string[] =>
  records
    .filter(({ taskId }) => taskId !== null)
    .map(({ type, taskId, epoch }) => `${type} ${taskId} ${epoch}`);

/** The last result below `skills/results/{run_id}/`. @param left the names of all files that are there */
async function resultOf(runId: string, left: readonly string[]): Promise<SkillResult> {
  const out = mkdtempSync(join(scratch, "export-"));
  await stack.antiphon(["evidence", "export", runId, "--out", out]);
  const results = `skills/results/${runId}/`;
  const files = readdirSync(out, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.includes(results),
  );
  const named = files.map((path) => path.slice(path.indexOf(results) + results.length)).toSorted();
  expect(named).toEqual(left);
  const path = files.findLast((one) => one.endsWith(".json")) ?? "";
  return JSON.parse(readFileSync(join(out, path), "utf8")) as SkillResult;
}

/** The schema of the skill holds for the result, and not without one of its sides. */
function expectDescribed(result: SkillResult): void {
  const file = join(SKILLS, result.skill, "io_schema.json");
  const schema = JSON.parse(readFileSync(file, "utf8")) as SkillIoSchema;
  expect(validateSkillResult(result, schema)).toMatchObject({ ok: true });
  const [pair] = result.pairs;
  for (const side of ["input", "output"] as const) {
    const without = { ...result, pairs: [{ ...pair, [side]: {} }] };
    expect(validateSkillResult(without, schema)).toMatchObject({
      ok: false,
      errors: expect.arrayContaining([
        expect.objectContaining({ path: expect.stringContaining(`/pairs/0/${side}`) as string }),
      ]) as unknown,
    });
  }
}

describe("a reviewer as a gate", () => {
  test("blocks a change with its findings, which the next attempt is told, and lets the corrected one land once", async () => {
    const at = project();
    const author = `if grep -q 'Number(a)' <<E
$ANTIPHON_TASK
E
then sed -i 's/a - b/Number(a) + Number(b)/' add.js; else ${FIX}; fi`;
    const reviewer = `if grep -q Number add.js; then ${findings([])}; else ${findings([FOUND])}; fi`;
    const shown = await run(at, ["--gate", "reviewer"], program({ author, reviewer }));
    expect(shown).toMatchObject({ status: "succeeded", tasks: [{ attempts: 2 }, { verdict: "PASS" }] });
    expect(at.landed(shown.runId)).toHaveLength(1);
    expect(at.git("show", `antiphon/${shown.runId}:add.js`)).toContain("Number(a)");
    const records = await recordsOf(shown.runId);
    expect(order(records)).toEqual([
      ...["dispatch", "claim", "result", "verdict"].map((type) => `${type} T-001 1`),
      ...["dispatch", "claim", "result", "verdict"].map((type) => `${type} T-001-reviewer 1`),
      ...["dispatch", "claim", "result", "verdict"].map((type) => `${type} T-001 2`),
      ...["dispatch", "claim", "result", "verdict"].map((type) => `${type} T-001-reviewer 2`),
      "landing T-001 2",
    ]);
    const blocked = records.find(({ type, taskId }) => type === "verdict" && taskId === "T-001-reviewer");
    expect(blocked?.body).toMatchObject({ verdict: "FAIL", code: "ANT_GATE_BLOCKED", commit: null });
    expect(String(blocked?.body["message"])).toContain("add.js:1 ((a, b) => a + b): It adds texts");
    const audit = await stack.antiphon(["doctor", "--journal", "--json"]);
    expect(audit.stdout).toContain('"ok":true');
  });

  test("leaves its result as skills/results with the diff that it judged, which its io_schema.json describes", async () => {
    const at = project();
    const info = { ...FOUND, severity: "info" };
    const made = { ...FOUND, quote: "not in the file" };
    const shown = await run(at, ["--gate", "reviewer"], program({ reviewer: findings([info, made]) }));
    expect(shown).toMatchObject({ status: "succeeded" });
    const result = await resultOf(shown.runId, ["T-001-reviewer.json", "T-001-reviewer.md"]);
    expect(result).toEqual({
      ...{ skill: "reviewer", run_id: shown.runId },
      pairs: [
        {
          input: {
            ...{ task_id: "T-001", goal: "Fix the broken add" },
            commit: at.landed(shown.runId)[0],
            diff: expect.stringContaining("+module.exports = (a, b) => a + b;") as string,
          },
          output: {
            decision: "accept",
            findings: [info],
            dropped: [{ finding: made, reason: "the quote is not in the file" }],
          },
        },
      ],
    });
    expectDescribed(result);
    const read = await stack.json<{ findings: unknown[] }>(["findings", shown.runId]);
    expect(read.document.findings).toHaveLength(1);
  });

  test("sees the change and its contract, and no word of the author", async () => {
    const at = project();
    const author = `${FIX}; git -c user.name=a -c user.email=a@b commit -qam 'MARKER of the author'; echo MARKER`;
    const secret = { ...FOUND, why: "The words of its author are here." };
    const reviewer = [
      "(git log --format=%B; cat; env) > /tmp/seen; git diff HEAD~1 >> /tmp/seen",
      "grep -q '^-module.exports = (a, b) => a - b' /tmp/seen || exit 7",
      "grep -q 'Its contract: Fix the broken add' /tmp/seen || exit 8",
      `if grep -q 'of the auth[o]r' /tmp/seen; then ${findings([secret])}; else ${findings([])}; fi`,
    ].join("\n");
    const shown = await run(at, ["--gate", "reviewer", "--attempts", "1"], program({ author, reviewer }));
    expect(shown, JSON.stringify(shown)).toMatchObject({ status: "succeeded" });
    const [landed] = at.landed(shown.runId);
    expect(at.git("log", "-1", "--format=%B", landed ?? "")).toContain("MARKER of the author");
  });

  test("that never writes findings ends the run with the reason, and nothing lands", async () => {
    const at = project();
    const flags = ["--gate", "reviewer", "--attempts", "2"];
    const shown = await run(at, flags, program({ reviewer: "true" }));
    expect(shown).toMatchObject({ status: "failed", code: "ANT_REVIEW_INVALID" });
    expect(at.landed(shown.runId)).toEqual([]);
  });

  test("judges no change that the clean room has refused", async () => {
    const at = project();
    const flags = ["--gate", "reviewer", "--attempts", "1"];
    const shown = await run(at, flags, program({ author: "echo '// no fix' >> add.js" }));
    expect(shown).toMatchObject({ status: "failed" });
    expect(order(await recordsOf(shown.runId)).filter((one) => one.includes("reviewer"))).toEqual([]);
  });
});

describe("a QA as a gate", () => {
  test("that fails the change to the last attempt ends the run with what it tried", async () => {
    const at = project();
    const qa = report("FAIL", "add(0.1, 0.2) prints 0.30000000000000004");
    const flags = ["--gate", "qa", "--attempts", "2"];
    const shown = await run(at, flags, program({ qa }));
    expect(shown).toMatchObject({ status: "failed", code: "ANT_GATE_BLOCKED" });
    expect(shown.message).toContain("after 2 attempts: qa: add(0.1, 0.2) prints");
    expect(at.landed(shown.runId)).toEqual([]);
    const result = await resultOf(shown.runId, ["T-001-qa.json", "T-001-qa.json"]);
    expect(result).toMatchObject({ skill: "qa", pairs: [{ output: { result: "FAIL" } }] });
    expectDescribed(result);
  });

  test("judges after the reviewer, and people decide beside both", async () => {
    const at = project();
    const flags = ["--gate", "reviewer", "--gate", "qa", "--require-approval", "--detach"];
    const { runId } = await run(at, flags, program({}));
    await eventually(`${runId} judged`, async () => {
      const passed = (await recordsOf(runId)).filter(({ type }) => type === "verdict");
      return passed.length === 3 ? passed : null;
    });
    expect(at.landed(runId)).toEqual([]);
    expect((await stack.antiphon(["approve", runId])).code).toBe(0);
    const ended = await stack.json<Shown>(["wait", runId]);
    expect(ended.document).toMatchObject({ status: "succeeded" });
    expect(at.landed(runId)).toHaveLength(1);
  });
});

describe("who judges", () => {
  test("a pack that the run names judges what a script has done", async () => {
    const at = project();
    const pack = join(scratch, "judge");
    mkdirSync(pack, { recursive: true });
    const argv = JSON.stringify(["sh", "-c", findings([FOUND])]);
    writeFileSync(join(pack, "agent.yaml"), `name: judge\nargv: ${argv}\nprompt: stdin\n`);
    const flags = ["--gate", "reviewer", "--attempts", "1", "--command", FIX];
    const shown = await run(at, [...flags, "--gate-agent", pack], []);
    expect(shown).toMatchObject({ status: "failed", code: "ANT_GATE_BLOCKED" });
    const refused = await stack.antiphon(begun(at, flags, []));
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("name one with --gate-agent");
    const unknown = await stack.antiphon(begun(at, ["--gate", "poet", "--command", FIX], []));
    expect(unknown).toMatchObject({ code: 2 });
  });

  test("a repository demands a QA in its antiphon.yaml, whatever the run says", async () => {
    const at = project();
    at.write("antiphon.yaml", "gates: [qa]\n");
    at.commitAll("Demand a QA");
    const shown = await run(at, ["--attempts", "1"], program({ qa: report("FAIL", "it prints 5") }));
    expect(shown).toMatchObject({ status: "failed", code: "ANT_GATE_BLOCKED" });
    const refused = await stack.antiphon(begun(at, ["--command", FIX], []));
    expect(refused.stderr).toContain("antiphon.yaml of the repository demands it");
  });

  test("a policy demands a reviewer of its own for some paths, and other changes land without it", async () => {
    const warning = { ...FOUND, severity: "warning" };
    const judge: AgentSpec = { kind: "command", argv: ["sh", "-c", findings([warning])] };
    const gate: Gate = {
      ...{ name: "code", skill: "reviewer", blocks: "warning", agent: judge },
      paths: ["*.js"],
    };
    await enforce({ gates: [gate] });
    try {
      const at = project();
      const flags = ["--attempts", "1", "--command", FIX];
      const shown = await run(at, flags, []);
      expect(shown).toMatchObject({ status: "failed", code: "ANT_GATE_BLOCKED" });
      const docs = ["Write docs", "--repo", at.path, "--check", "test -s a.md", "--command", "echo a > a.md"];
      const other = await stack.json<Shown>(["run", ...docs]);
      expect(other.document).toMatchObject({ status: "succeeded" });
    } finally {
      await enforce({});
    }
  });
});

describe("a policy that lets no run bring its own judge", () => {
  test("refuses the author and whom the run names, lets its own judge decide, and takes a pack of the deployment", async () => {
    const at = project();
    const demanded: Gate = { name: "code", skill: "reviewer" };
    const own = program({ reviewer: findings([]) });
    const judge: AgentSpec = { kind: "command", argv: ["sh", "-c", findings([FOUND])] };
    const flags = ["--attempts", "1"];
    try {
      await enforce({ ownJudges: false, gates: [demanded] });
      const author = await stack.antiphon(begun(at, flags, own));
      expect([author.code, author.stderr]).toEqual([2, expect.stringContaining("ANT_GATE_OWN_JUDGE")]);
      await enforce({ ownJudges: false });
      const asked = await stack.antiphon(begun(at, [...flags, "--gate", "reviewer"], own));
      expect(asked.stderr).toContain("ANT_GATE_OWN_JUDGE");
      const packed = [
        ...flags,
        "--gate",
        "reviewer",
        "--gate-agent",
        "claude",
        "--model-usd",
        "1",
        "--detach",
      ];
      const taken = await stack.json<Shown>(begun(at, packed, own));
      expect(taken.document.runId, JSON.stringify(taken.document)).toMatch(/^run_/);
      await stack.antiphon(["cancel", taken.document.runId]);
      await enforce({ ownJudges: false, judge, gates: [demanded] });
      for (const gate of [[], ["--gate", "reviewer"]]) {
        const shown = await run(at, [...flags, ...gate], own);
        expect(shown).toMatchObject({ status: "failed", code: "ANT_GATE_BLOCKED" });
      }
    } finally {
      await enforce({});
    }
  });
});

describe("a crash while a skill judges", () => {
  test.each([
    ["director", "result"],
    ["associate-1", "claim"],
    ...atNight(["director", "dispatch"], ["director", "verdict"]),
  ])("of the %s after the skill's %s record neither skips nor repeats its verdict", async (name, type) => {
    const at = project();
    const reviewer = `sleep 1; ${findings([])}`;
    const { runId } = await run(at, ["--gate", "reviewer", "--detach"], program({ reviewer }));
    await reached(runId, type);
    process.kill(stack.pid(name), "SIGKILL");
    const ended = await eventually(
      `${runId} over`,
      async () => {
        const { document } = await stack.json<Shown>(["get", runId]);
        return ["succeeded", "failed"].includes(document.status) ? document : null;
      },
      patient(90_000),
    );
    expect(ended).toMatchObject({ status: "succeeded" });
    expect(at.landed(runId)).toHaveLength(1);
    const records = await recordsOf(runId);
    const verdicts = records.filter((one) => one.type === "verdict" && one.taskId === "T-001-reviewer");
    expect(verdicts.map(({ body }) => body["verdict"])).toEqual(["PASS"]);
    const authors = records.filter((one) => one.type === "dispatch" && one.taskId === "T-001");
    expect(authors).toHaveLength(1);
  });
});

/** Resolves once the journal has a record of that type of the reviewer. */
async function reached(runId: string, type: string): Promise<void> {
  const env = { ANTIPHON_GATEWAY_URL: stack.ready.gateway };
  const watch = start(process.execPath, [ANTIPHON, "events", runId, "--json"], { env });
  try {
    for await (const line of createInterface({ input: watch.stdout! }))
      if (line.includes(`"type":"${type}"`) && line.includes('"T-001-reviewer"')) return;
    throw new Error(`${runId} ended without a ${type} record of the reviewer`);
  } finally {
    watch.kill("SIGKILL");
    await exitOf(watch);
  }
}

const enforce = (says: Partial<PolicyProfile>): Promise<void> =>
  enforcePolicy(stack, { ownJudges: true, ...says });
