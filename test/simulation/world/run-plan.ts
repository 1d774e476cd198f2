/** The caller's plan for one run, drawn from the seed. */
import type { Intent } from "@antiphon/contracts";
import type { Chance } from "../chance.ts";
import { REPO } from "./sim-repository.ts";

export interface RunPlan {
  intent: Intent;
  /** Idempotency-Key; null: a single try, whose result may stay unknown. */
  key: string | null;
  startMs: number;
  cancelAfterMs: number | null;
  /** An agent asks before it works, and the caller answers. */
  asks: boolean;
  /** No check decides a criterion of its first task, so the caller is asked for one before any attempt. */
  lacks: boolean;
  /** The number of people who have to approve a change before it lands. */
  approvals: number;
  /** The caller sends the same request once more after it was accepted. */
  asksTwice: boolean;
}

/** People with tokens of their own. The first one requests the runs that need approvals. */
export const PEOPLE = ["ann", "ben", "cleo"] as const;

export function drawRuns(chance: Chance, count: number, withinMs: number): RunPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const asks = chance.hit(0.12);
    const people = chance.fork(1_000 + index); // A generator of its own leaves the other draws unchanged.
    const approvals = people.hit(0.12) ? people.int(1, 2) : 0;
    const lacks = approvals === 0 && chance.fork(2_000 + index).hit(0.1);
    const size = chance.pick([1, 1, 1, 2, 3]);
    const tasks = Array.from({ length: size }, (_unused, at) => ({
      id: at + 1,
      description: `part ${at + 1}`,
      dependencies: Array.from({ length: at }, (_none, before) => before + 1).filter(() => chance.hit(0.5)),
      ...(lacks && at === 0 ? { acceptance_criteria: ["It is fast"] } : {}),
    }));
    const inputs = {
      repo: REPO,
      agent: { kind: "scripted", commands: ["make"], ...(asks ? { ask: "which one?" } : {}) },
      checks: ["npm test"],
      workflow: size === 1 && chance.hit(0.2) ? "DEBUG" : "BUILD",
      tasks,
      ...(chance.hit(0.15) ? { land_on: "main" } : {}),
    };
    return {
      intent: {
        goal: `make thing ${index}`,
        inputs,
        constraints: approvals === 0 ? {} : { approvals: { needed: approvals } },
      },
      key: chance.hit(0.9) ? `key-${index}` : null,
      startMs: chance.between(0, withinMs),
      cancelAfterMs: chance.hit(0.15) ? chance.between(0, 8_000) : null,
      asks,
      lacks,
      approvals,
      asksTwice: chance.hit(0.15),
    };
  });
}
