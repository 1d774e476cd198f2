import { describe, expect, it } from "vitest";
import type { SandboxRequest } from "@antiphon/contracts";
import { defaultLimits } from "../job-limits.ts";
import { planJob, type Stage } from "./job-plan.ts";

const step = (id: string) => ({ id, argv: ["true"], env: {}, timeoutMs: 1000, continueOnFailure: false });
const grant = (mode: "none" | "git+pkg") => ({ profile: { mode }, model_budget: null });

function plan(changes: Partial<SandboxRequest> = {}) {
  const request: SandboxRequest = {
    jobId: "job",
    run: "run",
    task: "T-001",
    epoch: 1,
    purpose: "attempt",
    image: null,
    budgetMs: 5000,
    workspace: { tree: null, files: [], overlay: null, deletions: [] },
    steps: [step("a"), step("b"), step("c")],
    collect: false,
    ...changes,
  };
  return planJob(request, defaultLimits("runc"));
}

const word = (stage: Stage): string => (stage.kind === "run" ? stage.step.id : stage.kind);
const stages = (changes: Partial<SandboxRequest>): string => plan(changes).stages.map(word).join(" ");

describe("the plan of a job", () => {
  it("fills the workspace, then runs every step", () => {
    expect(stages({})).toBe("fill a b c");
  });

  it("connects the network between them, if the request has a grant for one", () => {
    expect(stages({ egress: grant("git+pkg") })).toBe("fill connect a b c");
    expect(stages({ egress: grant("none") })).toBe("fill a b c");
  });

  it("collects after the named step, and at the end if none or an unknown one is named", () => {
    expect(stages({ collect: true, collectAfter: "a" })).toBe("fill a collect b c");
    expect(stages({ collect: true, collectAfter: "no" })).toBe("fill a b c collect");
    expect(stages({ collect: true })).toBe("fill a b c collect");
    expect(stages({ collectAfter: "a" })).toBe("fill a b c");
  });

  it("wants a sealed sandbox for a verdict, and refuses a network for it", () => {
    expect([plan().needsSeal, plan({ purpose: "base" }).needsSeal]).toEqual([false, true]);
    expect(plan({ purpose: "verify", egress: grant("none") }).needsSeal).toBe(true);
    expect(() => plan({ purpose: "verify", egress: grant("git+pkg") })).toThrow("has no network");
  });
});
