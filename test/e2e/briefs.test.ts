/** Runs without a repository: they read connectors, end with a brief, and land nothing. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SKILLS, validateSkillResult, type BriefOutput, type SkillResult } from "@antiphon/contracts";
import { FileBacklog } from "../../services/director/src/work-items/file-backlog.ts";
import { BROKEN_CALCULATOR, makeProject, type Project } from "./support/project.ts";
import { startQuickStack, type Stack } from "./support/stack.ts";

const SEED = '{"goal":"daily brief","inputs":{"topics":["infra"]},"constraints":{}}';
let stack: Stack;
let project: Project;
const backlog = mkdtempSync(join(tmpdir(), "antiphon-backlog-"));

beforeAll(async () => {
  project = makeProject(BROKEN_CALCULATOR);
  const items = [
    { id: "1", title: "Infra is slow", description: "Since Monday.", status: "open", assignee: "ada" },
    { id: "2", title: "New colours", status: "open" },
    { id: "3", title: "Rotate keys", status: "in progress", tags: ["infra"] },
  ];
  const file = new FileBacklog(backlog).pathOf({ name: "app", path: project.path });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ v: 1, items }));
  stack = await startQuickStack({
    env: { ANTIPHON_WORK_ITEMS: `file:${backlog}`, ANTIPHON_BRIEF_PROJECTS: project.path },
  });
});
afterAll(async () => {
  project.remove();
  rmSync(backlog, { recursive: true, force: true });
  await stack.stop();
});

interface Shown {
  runId: string;
  status: string;
  code: string | null;
  commit: string | null;
  brief?: BriefOutput;
}

const name = (id: number): string => `work-items/${project.path.split("/").at(-1) ?? ""}#${id}`;

async function verdictFile(runId: string, path: string): Promise<string> {
  const url = `${stack.ready.gateway}/runs/${runId}/evidence/T-001/1/files/${path}?kind=verdict`;
  const answer = await fetch(url);
  expect([answer.status, path]).toEqual([200, path]);
  return answer.text();
}

describe("the daily brief of the seed", () => {
  let runId: string;

  test("runs as it is written there, without repository and agent", async () => {
    const made = await stack.http("POST", "/intents", SEED);
    const begun = await stack.http("POST", `/intents/${String(made.body["intentId"])}/run`);
    expect(begun.status).toBe(202);
    runId = String(begun.body["runId"]);
    const { document } = await stack.json<Shown>(["wait", runId]);
    expect(document).toMatchObject({ status: "succeeded", code: null });
  });

  test("ends as a skill result, as JSON and as Markdown, with what it was made from", async () => {
    const result = JSON.parse(await verdictFile(runId, `skills/results/${runId}/brief.json`)) as SkillResult;
    expect(validateSkillResult(result, SKILLS.brief)).toMatchObject({ ok: true });
    const { entries, dropped } = result.pairs[0]?.output as BriefOutput;
    expect(entries.map(({ source, title }) => [source, title])).toEqual([
      [name(1), "Infra is slow"],
      [name(3), "Rotate keys"],
    ]);
    expect(dropped).toEqual([]);
    const markdown = await verdictFile(runId, `skills/results/${runId}/brief.md`);
    expect(markdown).toContain("# daily brief");
    expect(markdown).toContain("**Infra is slow** (open, ada)");
    expect(JSON.parse(await verdictFile(runId, "material/entries.json"))).toMatchObject({
      topics: ["infra"],
    });
  });

  test("lands nothing anywhere", async () => {
    const { body } = await stack.http("GET", `/runs/${runId}/events`, undefined, {
      accept: "application/json",
    });
    const records = body["records"] as { type: string }[];
    expect(records.map(({ type }) => type)).not.toContain("landing");
    expect(project.git("for-each-ref", "refs/heads/antiphon")).toBe("");
  });
});

describe("an agent of a run that reads connectors", () => {
  const script = (brief: object): string[] => [
    "--agent",
    "command",
    "--",
    "sh",
    "-c",
    `printf '%s' '${JSON.stringify(brief)}' > brief.json`,
  ];
  const run = async (brief: object): Promise<Shown> => {
    const args = ["run", "What is urgent?", "--connector", "work-items", "--project", project.path];
    return (await stack.json<Shown>([...args, "--attempts", "1", ...script(brief)])).document;
  };

  test("chooses and comments; what no connector answered is dropped", async () => {
    const entries = [{ source: name(2), note: "easy" }, { source: name(99) }];
    const { status, brief } = await run({ summary: "Colours first.", entries });
    expect(status).toBe("succeeded");
    expect(brief).toMatchObject({
      summary: "Colours first.",
      entries: [{ source: name(2), title: "New colours", note: "easy" }],
      dropped: [name(99)],
    });
  });

  test("that writes no valid brief fails with the place of the fault", async () => {
    expect(await run({ summary: "Only words." })).toMatchObject({
      status: "failed",
      code: "ANT_BRIEF_INVALID",
    });
  });
});
