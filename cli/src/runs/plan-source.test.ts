import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readPlan } from "@antiphon/contracts/plans/read-plan";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { loadPlan, namesRun } from "./plan-source.ts";
import { deliveryRows, type Delivery } from "./deliveries.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "antiphon-plan-source-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const noGateway = (): never => {
  throw new Error("not asked for here");
};
const write = (name: string, content: unknown): string => {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : stringify(content));
  return path;
};
const contract = (id: string, depends_on: string[]) => ({
  ...{ id, objective: `do ${id}`, status: "done", verification_commands: [], acceptance_criteria: [] },
  scope: { allowed_files: [], disallowed_files: [], allowed_tools: [], disallowed_tools: [] },
  depends_on,
});

/** A gateway whose PLAN run ended with this text. */
function gatewayWithPlan(text: string): GatewayClient {
  const digest = `sha256-${createHash("sha256").update(text).digest("base64url")}`;
  const manifest = { decision: "PASS", files: [{ path: "plan/plan.yaml", blob: { digest } }] };
  const answers = { bundles: [{ kind: "verdict", taskId: "T-001", epoch: 1, manifest }], records: [] };
  const gateway = { get: () => Promise.resolve(answers), bytes: () => Promise.resolve(Buffer.from(text)) };
  return gateway as unknown as GatewayClient;
}

describe("the plan that --plan names", () => {
  it("is a file, with its goal", async () => {
    const path = write("p.yaml", { goal: "Dates", tasks: [{ id: 1, description: "a" }] });
    expect(await loadPlan(path, noGateway)).toMatchObject({ goal: "Dates", tasks: [{ id: 1 }] });
  });

  it("is the directory of an export", async () => {
    write("tasks/T-001.yaml", contract("T-001", []));
    write("tasks/T-002.yaml", contract("T-002", ["T-001"]));
    write("tasks/schema.json", "{}");
    const { tasks } = await loadPlan(folder, noGateway);
    expect(tasks.map(({ id, dependencies }) => [id, dependencies])).toEqual([
      [1, []],
      [2, [1]],
    ]);
  });

  it("is the export of a run that is over, by its directory or its contract, with the goal and without the skills' tasks", async () => {
    write("tasks/T-001.yaml", contract("T-001", []));
    write("tasks/T-001-reviewer.yaml", contract("T-001-reviewer", []));
    const counts = { tasks_completed: 1, tasks_total: 1, evidence: [], next_action: "Resolve it" };
    const over = { status: "BLOCKED", workflow: "BUILD", ...counts };
    const closed = write("router_contract.yaml", { router_contract: over });
    await expect(loadPlan(closed, noGateway)).rejects.toMatchObject({ code: "ANT_PLAN_INVALID" });
    const task = { id: 1, description: "do T-001", status: "PENDING", dependencies: [] };
    const opened = { status: "IN_PROGRESS", workflow: "BUILD", intent: "Dates", tasks: [task] };
    const router_contract = { ...opened, memory_notes: "", next_action: "Start with Task 1" };
    write("router_contract.opened.yaml", { router_contract });
    for (const named of [folder, closed])
      expect(await loadPlan(named, noGateway)).toMatchObject({ goal: "Dates", tasks: [{ id: 1 }] });
  });

  it("is refused with file, line and column", async () => {
    const path = write("p.yaml", "tasks:\n  - id: 1\n    descripton: a\n");
    const faulty = write("tasks/T-001.yaml", contract("T-001", ["T-009"]));
    for (const [named, words] of [
      [path, `${path}:`],
      [folder, `${faulty}:1:1: /depends_on/0: `],
    ] as const)
      await expect(loadPlan(named, noGateway)).rejects.toMatchObject({
        code: "ANT_PLAN_INVALID",
        exitCode: 2,
        message: expect.stringContaining(words) as string,
      });
  });

  it("is a run only if there is no such file", () => {
    expect(namesRun("run_abc")).toBe(true);
    expect(namesRun(write("run_abc", "tasks: []"))).toBe(false);
    expect(namesRun("plan.yaml")).toBe(false);
  });
});

describe("the network that a plan brings along", () => {
  const task = {
    ...{
      task_id: "a",
      kind: "edit_repo",
      instruction: "a",
      acceptance_criteria: [],
      allowed_tools: ["bash"],
    },
    return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
  };

  it("is that of the seed for DirectorTasks of a person, and none for the same text by an agent", async () => {
    const path = write("director-task.json", JSON.stringify(task));
    expect(await loadPlan(path, noGateway)).toMatchObject({ bringsNetwork: true, value: task });
    const planned = await loadPlan("run_abc", () => Promise.resolve(gatewayWithPlan(JSON.stringify(task))));
    expect(planned.bringsNetwork).toBe(false);
    expect(readPlan(planned.value)).toMatchObject({
      ok: true,
      plan: { seedNetwork: null, tasks: [{ id: 1 }] },
    });
  });
});

describe("what a run delivered", () => {
  it("is shown with one line for each task", () => {
    const tasks = [{ id: 2, description: "b\u001b[2Jc\nd", dependencies: [1] }];
    expect(deliveryRows("run_1", { plan: { goal: null, tasks } })).toEqual([
      "  plan  1 task",
      "    2  b\u001b[2Jc d (after 1)",
      "  run it  antiphon run --plan run_1 --agent <name>",
    ]);
    const finding = { severity: "error" as const, file: "a.ts", line: 3, quote: "x", why: "It is\nwrong." };
    const review = { decision: "reject" as const, findings: [finding], dropped: [] };
    expect(deliveryRows("run_1", { review })).toEqual([
      "  review  1 finding (1 error)",
      "    error    a.ts:3  It is wrong.",
      "  read it  antiphon findings run_1",
    ]);
    const brief = { summary: "Nothing\nnew.", entries: [], dropped: [] } satisfies Delivery["brief"];
    expect(deliveryRows("run_1", { brief })).toEqual([
      "  brief  Nothing new.",
      "  read it  antiphon evidence export run_1 --out evidence-run_1",
    ]);
    expect(deliveryRows("run_1", {})).toEqual([]);
  });
});
