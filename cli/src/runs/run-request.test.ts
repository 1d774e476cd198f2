import { validate } from "@antiphon/contracts";
import { RUN_OPTION_NAMES, RUN_OPTIONS } from "@antiphon/contracts/runs/run-options";
import { Option } from "commander";
import { describe, expect, it } from "vitest";
import { intentOf } from "./run-request.ts";
import type { RunFiles, RunFlags } from "./run-request.ts";

const NONE: RunFiles = { patch: null, packs: [], tasks: null, plan: null, recordingSeed: null };

describe("the intent made from the options of `antiphon run`", () => {
  it("contains the given options and nothing else", () => {
    const flags: RunFlags = {
      command: ["make"],
      check: ["make test"],
      land: "main",
      attempts: "2",
      requireProof: "fail-to-pass",
      trials: "5",
      allowDirty: true,
    };
    expect(intentOf("Build it", "/src/app", flags, NONE)).toEqual({
      goal: "Build it",
      inputs: {
        repo: { name: "app", path: "/src/app" },
        agent: { kind: "scripted", commands: ["make"] },
        checks: ["make test"],
        land_on: "main",
      },
      constraints: { max_attempts: 2, require_proof: "fail-to-pass", trials: 5, allow_dirty: true },
    });
  });

  it("takes the tools of the agent with commas between, and an empty list as none", () => {
    const given = (tools: string) => intentOf("x", "/a", { command: ["true"], tools }, NONE).constraints;
    expect(given("read_file, edit_file")).toEqual({ allowed_tools: ["read_file", "edit_file"] });
    expect(given("")).toEqual({ allowed_tools: [] });
  });

  it("is an Intent.v0", () => {
    expect(validate("Intent", intentOf("x", "/a", { command: ["true"] }, NONE)).ok).toBe(true);
  });

  it("has each option of the table where the table says", () => {
    const given = {
      number: "7",
      count: true,
      usd: "0.5",
      switch: true,
      off: false,
      texts: ["a"],
      pairs: ["A=b=c"],
    };
    const read = {
      number: 7,
      count: 1,
      usd: 500_000,
      switch: true,
      off: [],
      texts: ["a"],
      pairs: { A: "b=c" },
      word: "BUILD",
      text: "build",
    };
    for (const name of RUN_OPTION_NAMES) {
      const { place, flags: rows, implied } = RUN_OPTIONS[name];
      for (const { flag, reads, field } of name === "agent" || name === "tasks" ? [] : rows) {
        if (reads === "gate-agent") continue; // It is a file, and has its own test below.
        const key = new Option(flag).attributeName();
        const flags = {
          command: ["true"],
          [key]: { text: "build", word: "build", ...given }[reads as "text"],
        };
        const intent = intentOf("x", "/a", flags, NONE);
        const value = read[reads as keyof typeof read];
        expect(intent[place ?? "inputs"][name], flag).toEqual(
          field === null ? value : { ...implied, [field]: value },
        );
      }
    }
  });

  it("implies the agent from the options that belong to it", () => {
    const kind = (flags: RunFlags, files: RunFiles = NONE): unknown =>
      intentOf("x", "/a", flags, files).inputs.agent;
    expect(kind({ program: ["agent", "-v"] })).toEqual({ kind: "command", argv: ["agent", "-v"] });
    expect(kind({ seed: "s1" })).toEqual({ kind: "replay", seed: "s1" });
    expect(kind({ recording: "r.json" }, { ...NONE, recordingSeed: "s2" })).toEqual({
      kind: "replay",
      seed: "s2",
    });
    expect(kind({ agent: "magic" })).toEqual({ kind: "magic" });
  });

  it("fills an agent pack in, and leaves its network to the gateway, which opens the way to a model that is paid for", () => {
    const pack = { name: "a", argv: ["a", "${model}"], prompt: "stdin" as const };
    const of = (flags: RunFlags) =>
      intentOf("x", "/a", { agent: "a", model: "m", ...flags }, { ...NONE, packs: [pack] });
    expect(of({}).inputs.agent).toMatchObject({ kind: "pack", argv: ["a", "m"] });
    expect(of({}).constraints).toEqual({});
    expect(of({ modelUsd: "2" }).constraints).toEqual({ model_budget: { usd_micro: 2_000_000 } });
    expect(of({ modelUsd: "2", egress: "git+pkg" }).constraints["egress"]).toMatchObject({ mode: "git+pkg" });
  });

  it("refuses a command, a patch or a program beside a pack, which would make the change instead", () => {
    const pack = { name: "a", argv: ["a"], prompt: "stdin" as const };
    const of = (flags: RunFlags) => intentOf("x", "/a", { agent: "a", ...flags }, { ...NONE, packs: [pack] });
    expect(() => of({ command: ["make"] })).toThrow(/--command would not be used/);
    expect(() => of({ patch: "fix.diff" })).toThrow(/--patch would not be used/);
    expect(() => of({ program: ["agent"] })).toThrow(/--program would not be used/);
  });

  it("names the agents that a rejected attempt is handed over to, each with its model", () => {
    const packs = ["a", "b", "c"].map((name) => ({ name, argv: [name], prompt: "stdin" as const }));
    const { inputs } = intentOf("x", "/a", { agent: "a,b,c" }, { ...NONE, packs });
    const names = [inputs.agent, ...(inputs["next_agents"] as object[])];
    expect(names).toMatchObject([{ name: "a" }, { name: "b" }, { name: "c" }]);
    const asking = packs.map((pack) => ({
      ...{ ...pack, argv: [pack.name, "${model}"] },
      model: { shape: "openai" as const, host: "models.test", name: "usual" },
    }));
    const choices = new Map([[asking[1]!, { model: "own" }]]);
    const flags = { agent: "a,b@own,c", model: "m" };
    const chosen = intentOf("x", "/a", flags, { ...NONE, packs: asking, choices }).inputs;
    const models = [chosen.agent, ...(chosen["next_agents"] as object[])];
    expect(models).toMatchObject([{ argv: ["a", "m"] }, { argv: ["b", "own"] }, { argv: ["c", "m"] }]);
  });

  it("names the skills that judge, how severe a finding blocks, and the pack that is the judge", () => {
    const gatePack = { name: "judge", argv: ["judge"], prompt: "stdin" as const };
    const flags = { command: ["make"], gate: ["reviewer"], gateSeverity: "warning", gateAgent: "judge" };
    const { inputs } = intentOf("x", "/a", flags, { ...NONE, gatePack });
    const gates = { skills: ["reviewer"], blocks: "warning", agent: { kind: "pack", name: "judge" } };
    expect(inputs["gates"]).toMatchObject(gates);
    const model = { shape: "openai" as const, host: "models.test", name: "usual" };
    const asks = { ...gatePack, argv: ["judge", "${model}"], model };
    const own = intentOf("x", "/a", flags, { ...NONE, gatePack: asks, gateChoice: { model: "small" } });
    expect(own.inputs["gates"]).toMatchObject({ agent: { argv: ["judge", "small"] } });
  });

  it("takes the agent of the first task that has one if the options name none", () => {
    const agent = { kind: "scripted" as const, commands: ["true"] };
    const tasks = [
      { id: 1, description: "a", dependencies: [] },
      { id: 2, description: "b", dependencies: [1], agent },
    ];
    expect(intentOf("x", "/a", {}, { ...NONE, tasks }).inputs.agent).toEqual(agent);
  });

  it.each([
    ["no agent", {}, /nothing says who does the work/],
    ["two agents", { command: ["true"], seed: "s" }, /different agents/],
    ["a number that is not one", { command: ["true"], attempts: "many" }, /--attempts takes a whole number/],
    ["a scripted agent with nothing to do", { agent: "scripted" }, /needs --command or --patch/],
    ["a command agent without a program", { agent: "command" }, /needs --program/],
    ["a variable without a value", { command: ["true"], env: ["A"] }, /--env takes name=value/],
    ["a model without a pack", { model: "m" }, /belong to an agent pack/],
    ["a replay without a seed", { agent: "replay" }, /needs --seed or --recording/],
  ])("refuses %s as a matter of usage", (_what, flags: RunFlags, message) => {
    expect(() => intentOf("x", "/a", flags, NONE)).toThrow(
      expect.objectContaining({
        code: "ANT_USAGE",
        exitCode: 2,
        message: expect.stringMatching(message) as string,
      }),
    );
  });
});
