import { AntiphonError } from "@antiphon/contracts";
import type { AgentSpec, Intent, PolicyProfile, RunOptions } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { DEPLOYED } from "../policy/built-in-policies.ts";
import { PolicyGuard } from "../policy/policy-guard.ts";
import { checkPaidAgents } from "./paid-agents.ts";
import { checkTaskGrants } from "./task-grants.ts";
import { runOptionsOf } from "./run-options.ts";

const OPEN = { mode: "git+pkg" as const, allowlist: [] };
const NONE = { mode: "none" as const, allowlist: [] };
const task = (task_id: string, more: object = {}) => ({
  ...{ task_id, kind: "edit_repo", instruction: task_id, acceptance_criteria: [], allowed_tools: ["bash"] },
  return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
  ...more,
});
const intent = (plan: unknown, constraints: Intent["constraints"] = {}): Intent => ({
  ...{ goal: "g", constraints },
  inputs: { repo: "/srv/app", agent: { kind: "scripted", commands: ["true"] }, plan },
});

/** As the gateway takes a run in: its options by the policy, or the refusal. */
async function admitted(one: Intent, says: Partial<PolicyProfile> = {}): Promise<RunOptions> {
  const profile = { ...DEPLOYED.profiles["default"]!, requireTestsBeforePush: false, ...says };
  const policies = { profiles: { default: profile }, defaultProfile: "default", globalLimits: {} };
  const guard = new PolicyGuard({ policies: () => Promise.resolve(policies), now: () => 0 });
  const asked = { intent: one, options: runOptionsOf(one), places: ["/srv/app"], landRef: null };
  const { options } = await guard.admitRun({ ...asked, principal: "local" });
  checkTaskGrants(options);
  return options;
}
const networks = ({ tasks = [] }: RunOptions) => tasks.map(({ egress_profile }) => egress_profile);
const refusal = async (one: Intent, says: Partial<PolicyProfile> = {}): Promise<[string, unknown]> => {
  const error: unknown = await admitted(one, says).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AntiphonError)) throw new Error("was accepted");
  return [error.code, error.data["rule"] ?? error.data["path"]];
};
const hosts = { mode: "allowlist" as const, allowlist: ["a.test"] };

describe("a policy", () => {
  it("refuses the network that a DirectorTask names, by the rule for its mode or its host", async () => {
    const says = { allowedEgress: ["none" as const] };
    const named = intent(task("a", { egress_profile: OPEN }));
    expect(await refusal(named, says)).toEqual(["ANT_POLICY_REFUSED", "allowedEgress"]);
    const host = intent(task("a", { egress_profile: hosts }));
    expect(await refusal(host, { allowedHosts: ["b.test"] })).toEqual(["ANT_POLICY_REFUSED", "allowedHosts"]);
    const silent = intent(task("a", { egress_profile: { allowlist: ["a.test"] } }));
    expect(await refusal(silent, says)).toEqual(["ANT_POLICY_REFUSED", "allowedEgress"]);
  });

  it("that does not allow the default takes it away, and refuses nobody for a field that was left out", async () => {
    const plan = [task("a"), task("b", { egress_profile: {} })];
    const closed = await admitted(intent(plan), { allowedEgress: ["none"] });
    expect([closed.egress, ...networks(closed)]).toEqual([NONE, NONE, NONE]);
    const says = { allowedEgress: ["allowlist" as const] };
    const kept = await admitted(intent([task("a"), task("b", { egress_profile: hosts })]), says);
    expect([kept.egress, ...networks(kept)]).toEqual([hosts, { ...hosts, allowlist: [] }, hosts]);
  });

  it("that takes it away leaves the way to the models that the run pays for, where it may", async () => {
    const paid = intent(task("a"), { model_budget: { tokens: 5 } });
    const models = { mode: "allowlist", allowlist: [] };
    expect(networks(await admitted(paid, { allowedEgress: ["none", "allowlist"] }))).toEqual([models]);
    expect(networks(await admitted(paid, { allowedEgress: ["none"] }))).toEqual([NONE]);
  });
});

describe("a run that pays for the model of a pack", () => {
  const pack: AgentSpec = {
    ...{ kind: "pack", name: "own", install: [], tools: [], path: [], argv: ["agent"], prompt: "stdin" },
    ...{ env: {}, junk: [], model: { host: "models.test", name: "m" } },
  };
  const models = { mode: "allowlist", allowlist: [] };
  const paid = (plan: unknown, more: Intent["constraints"] = {}): Intent => {
    const of = intent(plan, { model_budget: { tokens: 5 }, ...more });
    return { ...of, inputs: { ...of.inputs, agent: pack } };
  };

  it("has the way to it where it says nothing, whatever its tasks say", async () => {
    const none = task("a", { egress_profile: NONE });
    for (const [plan, own] of [
      [undefined, []],
      [{ tasks: [{ id: 1, description: "a" }] }, [undefined]],
      [none, [models]],
      [
        [none, task("b", { egress_profile: NONE, kind: "git", git_action: "git_status" })],
        [models, NONE],
      ],
    ] as const) {
      const options = await admitted(paid(plan));
      expect([options.egress, ...networks(options)]).toEqual([models, ...own]);
      expect(() => checkPaidAgents(options)).not.toThrow();
    }
    expect((await admitted(paid([none, task("b")]))).egress).toEqual(OPEN);
  });

  it("is refused by the policy that does not allow that way, and by its own word", async () => {
    const says = { allowedEgress: ["none" as const] };
    for (const plan of [task("a"), task("a", { egress_profile: NONE }), undefined])
      expect(await refusal(paid(plan), says)).toEqual(["ANT_POLICY_REFUSED", "allowedEgress"]);
    const closed = await admitted(paid(task("a"), { egress: NONE }));
    expect(() => checkPaidAgents(closed)).toThrow(/leave egress out/);
  });

  it("is refused where a task closes the way with a network of its own, in any form of plan", async () => {
    const file = { tasks: [{ id: 1, description: "a", egress_profile: NONE }] };
    const given = intent(undefined, { model_budget: { tokens: 5 } });
    const tasks = [{ id: 1, description: "a", dependencies: [], egress_profile: NONE }];
    const list = { ...given, inputs: { ...given.inputs, agent: pack, tasks } };
    const own = paid([task("a", { egress_profile: NONE }), task("b")], { egress: OPEN });
    for (const one of [paid(file), list, own]) {
      const options = await admitted(one);
      expect(() => checkPaidAgents(options)).toThrow(
        expect.objectContaining({
          code: "ANT_INTENT_OPTIONS",
          message: expect.stringContaining("leave egress_profile out") as string,
          data: { path: "/inputs/tasks/0/egress_profile" },
        }),
      );
    }
  });
});

describe("a run that says something about its network", () => {
  it("refuses a DirectorTask that names more, with the flag that would allow it", async () => {
    for (const egress of [NONE, hosts]) {
      const named = intent(task("a", { egress_profile: OPEN }), { egress });
      expect(await refusal(named)).toEqual(["ANT_INTENT_OPTIONS", "/inputs/tasks/0/egress_profile"]);
    }
  });

  it("decides for those that say nothing", async () => {
    for (const egress of [NONE, hosts]) {
      const options = await admitted(intent([task("a")], { egress }));
      expect([options.egress, ...networks(options)]).toEqual([egress, undefined]);
    }
  });
});

describe("a run that says nothing", () => {
  it("refuses a plan of another form whose task names a network, and opens none for one that does not", async () => {
    const file = (more: object) => intent({ tasks: [{ id: 1, description: "a", ...more }] });
    expect((await refusal(file({ egress_profile: OPEN })))[0]).toBe("ANT_INTENT_OPTIONS");
    const quiet = [
      ...[file({}), intent({ nodes: [{ id: "a", title: "a", dependsOn: [], tags: [] }] })],
      intent({ nodes: [{ id: "a", kind: "compute", deps: [] }] }),
    ];
    for (const one of quiet) {
      const options = await admitted(one);
      expect([options.egress, ...networks(options)]).toEqual([undefined, undefined]);
    }
  });

  it("has a bound on the hosts that its tasks name together", async () => {
    const many = (from: number) => ({
      egress_profile: { allowlist: Array.from({ length: 200 }, (_, i) => `h${from + i}.test`) },
    });
    const both = intent([task("a", many(0)), task("b", many(200))]);
    expect(await refusal(both)).toEqual(["ANT_INTENT_OPTIONS", "/inputs/plan"]);
    expect((await admitted(intent([task("a", many(0)), task("b", many(0))]))).egress?.allowlist).toHaveLength(
      200,
    );
  });

  it("has what its DirectorTasks have: git+pkg where they name none, else their own", async () => {
    const git = task("d", { kind: "git", git_action: "git_status" });
    const plan = [task("a"), task("b", { egress_profile: hosts }), task("c", { egress_profile: NONE }), git];
    const options = await admitted(intent(plan));
    expect(networks(options)).toEqual([OPEN, hosts, NONE, undefined]);
    expect(options.egress).toEqual({ mode: "git+pkg", allowlist: ["a.test"] });
    expect((await admitted(intent(task("c", { egress_profile: NONE })))).egress).toEqual(NONE);
    const names = { ...git, egress_profile: { allowlist: ["x.test"] } };
    expect((await admitted(intent([task("c", { egress_profile: NONE }), names]))).egress).toEqual(NONE);
  });
});
