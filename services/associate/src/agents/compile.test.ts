import { AntiphonError, replayKey, type AgentOf } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import type { AgentContext } from "../ports.ts";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { compileInput } from "./compile.ts";
import { packAgent } from "./pack.ts";

const program = { install: [], tools: [], path: [], argv: ["own"], env: {}, junk: [] };
const spec: AgentOf<"pack"> = { kind: "pack", name: "own", ...program, prompt: "compile" };
const SESSION = {
  output: { plan: null, patch: { files: [] }, tests: [], transcript: [] },
  change: { diff: "the diff", files: [{ path: "plan.yaml", text: "tasks: []\n" }] },
};

function contextOf(over: Partial<AgentContext> = {}, kept: Record<string, unknown> = {}): AgentContext {
  const compiled = { find: (key: string) => Promise.resolve(kept[key] ?? null) };
  const trees = { check: () => [], apply: () => Promise.resolve({ files: [], deletions: ["old"] }) };
  const diffs = { previousDiff: null, isApplied: false, judged: null };
  const all = { dispatch: dispatchOf(), epoch: 1, ...diffs, trees, compiled, mayReuse: true, ...over };
  return all as unknown as AgentContext;
}

describe("an agent that compiles", () => {
  it("is asked with goal, task, prompt and seed, and its answer is awaited", async () => {
    const context = contextOf();
    const prepared = await packAgent(spec).prepare(context);
    if (prepared.kind !== "work") throw new Error("it asks");
    const [step] = prepared.steps;
    const input = compileInput(spec, context);
    expect(JSON.parse(step?.stdin ?? "")).toEqual(input);
    expect(input).toMatchObject({ schemaVersion: 0, seed: "0", intent: { task_id: "T-001" } });
    expect(step?.env).toHaveProperty("ANTIPHON_COMPILE_FILE");
    expect(prepared.compiles).toEqual({ key: replayKey(input), input });
  });

  it("goes on with the answer to its question by the words of its pack, and not at all without them", async () => {
    const resume = ["own", "--continue"];
    expect(await packAgent({ ...spec, resume }).prepare(contextOf())).toMatchObject({
      goesOn: { argv: resume, toldBy: "stdin", told: "answer" },
    });
    expect(await packAgent(spec).prepare(contextOf())).not.toHaveProperty("goesOn");
  });

  it("is not asked again for a request that was answered before", async () => {
    const key = replayKey(compileInput(spec, contextOf()));
    const prepared = await packAgent(spec).prepare(contextOf({}, { [key]: SESSION }));
    expect(prepared).toMatchObject({
      kind: "work",
      steps: [],
      change: { deletions: ["old"], files: [{ path: "plan.yaml" }] },
    });
    expect(prepared).not.toHaveProperty("compiles");
  });

  it("is asked if the answer of before does not apply", async () => {
    const key = replayKey(compileInput(spec, contextOf()));
    const trees = {
      check: () => [],
      apply: () => Promise.reject(new AntiphonError("ANT_PATCH_DOES_NOT_APPLY", "no")),
    } as unknown as AgentContext["trees"];
    const prepared = await packAgent(spec).prepare(contextOf({ trees }, { [key]: SESSION }));
    expect(prepared).toHaveProperty("compiles");
  });

  it("is asked again by a fork and by a replay of its own calls, although there is an answer", async () => {
    const key = replayKey(compileInput(spec, contextOf()));
    const prepared = await packAgent(spec).prepare(contextOf({ mayReuse: false }, { [key]: SESSION }));
    expect(prepared).toHaveProperty("compiles");
  });

  it("is asked anew as soon as anything differs that decides its answer", () => {
    const usual = dispatchOf();
    const keyFor = (over: object, agent = spec): string =>
      replayKey(compileInput(agent, contextOf({ dispatch: { ...usual, ...over } })));
    const keys = [
      keyFor({}),
      keyFor({}, { ...spec, seed: "1" }),
      keyFor({}, { ...spec, env: { MODEL: "other" } }),
      keyFor({ tenant: "other" }),
      keyFor({ image: "other" }),
      keyFor({ env: { NODE_OPTIONS: "--require=/workspace/x.js" } }),
      keyFor({ memory_mib: 4096 }),
      keyFor({ base: { ...usual.base, commit: "f".repeat(40) } }),
      keyFor({ base: { ...usual.base, linked: { object: "linked-x.tar", bytes: 1 } } }),
      keyFor({ history: { commits: 50, object: "h", bytes: 1 } }),
      keyFor({ scope: ["src/**"] }),
      keyFor({ grants: ["package.json"] }),
      keyFor({ services: [{ name: "db", image: "x" }] }),
      keyFor({ answers: [{ question: "q", answer: "a" }] }),
      keyFor({ task: { ...usual.task, instruction: "another" } }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keyFor({ model_budget: { tokens: 5 } })).toBe(keyFor({}));
  });
});
