/**
 * Recorded sessions of real agents, each carried out once more in a container of another base: another release of Debian with
 * another Node. For each push, one repository in each of two languages; at night all of them, with three agents.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { answerIn } from "../replays/answers.ts";
import { CORPUS } from "../replays/corpus.ts";
import { IMAGE_BOUND } from "../replays/image-bound.ts";
import { sessionOf } from "../replays/session.ts";
import { lineOf, sameIn, tableOf } from "../replays/table.ts";
import { tryElsewhere, type Agent, type Trial } from "../replays/trial.ts";
import { startModelScript, type ModelScript } from "../support/model-script.ts";
import { isNight, sized } from "../support/night.ts";
import { makeOtherBase, type OtherBase } from "../support/other-base.ts";
import { registryAccess } from "../support/package-registries.ts";
import { BROKEN_CALCULATOR, fixing, makeProject } from "./support/project.ts";
import { startStack, type Stack } from "./support/stack.ts";

const CHAT = "chat.elsewhere.example";
const MESSAGES = "messages.elsewhere.example";
const agent = (name: string): Agent => ({ name, model: "m", host: CHAT });
/** For the repositories of a language, in their order. */
const AGENTS: readonly Agent[] = [
  agent("model"),
  { name: "model", model: "claude-m", host: MESSAGES },
  ...["model", "model", "pi", "opencode"].map(agent),
];
/** Each language counts as much as the others. */
const LANGUAGES = CORPUS.slice(0, sized(2, CORPUS.length)).map(({ language, repositories }) => ({
  language,
  chosen: repositories.slice(0, sized(1, repositories.length)).map((repository, i) => ({
    repository,
    by: AGENTS[i] ?? agent("model"),
  })),
}));
const BOUND = IMAGE_BOUND.slice(0, sized(1, IMAGE_BOUND.length));
/** Sessions beside each other. */
const AT_ONCE = 3;
/** What has to be the same. */
const LEAST = 0.95;

vi.setConfig({ testTimeout: sized(400_000, 1_800_000), hookTimeout: 600_000 });

let stack: Stack;
let other: OtherBase;
let script: ModelScript;
let directory: string;
const trials: Trial[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-elsewhere-"));
  other = await makeOtherBase();
  const sessions = [...CORPUS.flatMap(({ repositories }) => repositories), ...IMAGE_BOUND].map(sessionOf);
  script = await startModelScript((body) => answerIn(sessions, body));
  const npm = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const env = await registryAccess(directory, [new URL(npm).hostname]);
  const file = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const models = [
    [CHAT, "openai"],
    [MESSAGES, "anthropic"],
  ].map(([host, shape]) => ({
    ...{ host, shape, base_url: `http://127.0.0.1:${script.port}/v1` },
    prices: { "*": { input: 3_000_000, output: 15_000_000, max_output: 32_000 } },
  }));
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, "utf8")) as object), models }));
  stack = await startStack({ env });
});
afterAll(async () => {
  await stack.antiphon(["images", "disallow", other.ref]);
  await stack.stop();
  await script.close();
  rmSync(directory, { recursive: true, force: true });
});

test("each repository of the corpus is known by its goal, and its mends are of texts that occur once", () => {
  const all = CORPUS.flatMap(({ repositories }) => repositories);
  expect([CORPUS.length >= 5, all.length >= 40]).toEqual([true, true]);
  expect(new Set(all.map(({ goal }) => goal)).size).toBe(all.length);
  for (const { name, files, fix, wrong } of all) {
    expect(files[fix[0]]?.split(fix[1]), name).toHaveLength(2);
    if (wrong === undefined) continue;
    expect(wrong.slice(0, 2), name).toEqual(fix.slice(0, 2));
    expect(files[fix[0]]?.replace(fix[1], () => wrong[2]).split(wrong[2]), name).toHaveLength(2);
  }
});

describe("a replay in another image", () => {
  test("is refused with a remedy while the image is not allowed, and then says which images the two were", async () => {
    const project = makeProject(BROKEN_CALCULATOR);
    const { document: ran } = await stack.json<{ runId: string }>(fixing(project));
    project.remove();
    const replay = ["replay", ran.runId, "--image", other.ref];
    const refused = await stack.antiphon(replay);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("ANT_SANDBOX_IMAGE_NOT_ALLOWED");
    expect(refused.stderr).toContain("antiphon images allow");
    expect(await stack.antiphon(["images", "allow", other.ref])).toMatchObject({ code: 0 });
    const { code, stdout } = await stack.antiphon(replay);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(` in image ${other.id.slice(0, 19)} \\(recorded in sha256:[0-9a-f]{12}\\)`),
      ),
    ]);
    const usual = await stack.json<{ reports: { images: object }[] }>([...replay.slice(0, -1), "default"]);
    const [{ images } = { images: {} }] = usual.document.reports;
    expect(Object.values(images)).not.toContain(other.id);
    expect(new Set(Object.values(images)).size).toBe(1);
    const nameless = await stack.antiphon([...replay.slice(0, -1), ""]);
    expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining("image")]);
  });

  test.each(LANGUAGES)(
    "of $language is recorded by an agent, and its report compares the diffs",
    async ({ language, chosen }) => {
      const room = { stack, image: other.ref };
      const faults: string[] = [];
      await inPool(chosen, AT_ONCE, async ({ repository, by }) => {
        try {
          const trial = await tryElsewhere(room, language, repository, by);
          trials.push(trial);
          if (isNight) console.error(lineOf(trial));
          const { calls, model_tokens, images, same, divergence } = trial.report;
          expect(calls).toBeGreaterThanOrEqual(sessionOf(repository).steps.length);
          expect([model_tokens, images?.replayed]).toEqual([0, other.id]);
          expect(images?.recorded).not.toBe(other.id);
          if (!same) expect(divergence).not.toBeNull();
        } catch (error) {
          faults.push(`${repository.name}: ${String(error)}`);
        }
      });
      expect(faults).toEqual([]);
    },
  );

  test("gives the same diff for nearly all sessions, and names the step of the others", () => {
    console.error(`\n${tableOf(trials)}`);
    expect(trials).toHaveLength(LANGUAGES.flatMap(({ chosen }) => chosen).length);
    if (isNight) expect(trials.length).toBeGreaterThanOrEqual(40);
    expect(sameIn(trials) / trials.length).toBeGreaterThanOrEqual(LEAST);
  });

  test.each(BOUND)(
    "of a session that writes down a version of $language names the step at which it differs",
    async (repository) => {
      const { language, names } = repository;
      const trial = await tryElsewhere({ stack, image: other.ref }, language, repository, agent("model"));
      console.error(`\n${tableOf([trial])}`);
      expect(trial.report).toMatchObject({
        same: false,
        divergence: { step: names.step, what: expect.stringMatching(names.what) as string },
      });
    },
  );
});

/** Begins with each in turn while fewer than `most` are under way. */
async function inPool<Item>(
  items: readonly Item[],
  most: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
