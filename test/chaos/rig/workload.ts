/**
 * The work: many small runs of every shape over several repositories, a function of a seed. Most need no container,
 * so that the faults hit the durable core often; one in `dockerEvery` has a command and a check in a sandbox.
 */
import type { Random } from "./random.ts";

export interface Job {
  readonly index: number;
  readonly shape: Shape;
  readonly tasks: number;
  readonly intent: Record<string, unknown>;
  /** The delay between acceptance and cancel; null: not canceled. */
  readonly cancelAfterMs: number | null;
}

export type Shape =
  "change" | "chain" | "fan" | "look" | "question" | "hopeless" | "target" | "sandbox" | "poison";

/** The text by which crash-points.mjs recognizes a task that ends every process that claims it. */
export const POISON = "Swallow the bitter pill";
const POISON_EVERY = 100;
const CANCELED = 0.1;

export interface WorkloadPlan {
  readonly repos: readonly string[];
  /** Every n-th run works in a container; 0: none. */
  readonly dockerEvery: number;
  readonly poison: boolean;
}

export function jobAt(index: number, plan: WorkloadPlan, random: Random): Job {
  const shape = shapeOf(index, plan, random);
  const repo = random.pick(plan.repos);
  const { inputs, tasks, goal } = SHAPES[shape](index);
  const canceled = shape !== "poison" && random.next() < CANCELED;
  return {
    index,
    shape,
    tasks,
    cancelAfterMs: canceled ? random.below(1_500) : null,
    intent: {
      goal: goal ?? `${shape} ${index}`,
      inputs: { repo, workflow: "BUILD", ...inputs },
      constraints: { allow_unverified: true, ...(shape === "hopeless" ? { max_attempts: 2 } : {}) },
    },
  };
}

function shapeOf(index: number, plan: WorkloadPlan, random: Random): Shape {
  if (plan.poison && index % POISON_EVERY === POISON_EVERY / 2) return "poison";
  if (plan.dockerEvery > 0 && index % plan.dockerEvery === 1) return "sandbox";
  const dice = random.next();
  if (dice < 0.45) return "change";
  if (dice < 0.6) return "look";
  if (dice < 0.75) return "chain";
  if (dice < 0.85) return "fan";
  if (dice < 0.92) return "question";
  return dice < 0.96 ? "hopeless" : "target";
}

type Shaped = { inputs: Record<string, unknown>; tasks: number; goal?: string };

/** A patch that adds a file with one line, so it applies to any tree. */
function adding(path: string, line: string): Record<string, unknown> {
  const diff = `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
  return { kind: "scripted", patch: { files: [{ path, diff }] } };
}

const task = (id: number, dependencies: number[], agent: unknown): Record<string, unknown> => ({
  id,
  description: `step ${id}`,
  dependencies,
  agent,
});

const SHAPES: Readonly<Record<Shape, (index: number) => Shaped>> = {
  change: (i) => ({ inputs: { agent: adding(`runs/${i}.txt`, `run ${i}`) }, tasks: 1 }),
  poison: (i) => ({
    inputs: { agent: adding(`runs/${i}.txt`, `run ${i}`) },
    tasks: 1,
    goal: `${POISON}, number ${i}`,
  }),
  target: (i) => ({ inputs: { agent: adding(`runs/${i}.txt`, `run ${i}`), land_on: "trunk" }, tasks: 1 }),
  question: (i) => ({
    inputs: { agent: { ...adding(`runs/${i}.txt`, `run ${i}`), ask: "which way?" } },
    tasks: 1,
  }),
  look: () => ({
    inputs: {
      agent: { kind: "scripted" },
      workflow: "PLAN",
      tasks: [1, 2].map((id) => task(id, [], { kind: "scripted" })),
    },
    tasks: 2,
  }),
  chain: (i) => ({
    inputs: {
      agent: { kind: "scripted" },
      tasks: [1, 2, 3].map((id) =>
        task(id, id === 1 ? [] : [id - 1], adding(`runs/${i}-${id}.txt`, `step ${id}`)),
      ),
    },
    tasks: 3,
  }),
  fan: (i) => ({
    inputs: {
      agent: { kind: "scripted" },
      tasks: [1, 2, 3].map((id) =>
        task(id, id === 3 ? [1, 2] : [], adding(`runs/${i}-${id}.txt`, `step ${id}`)),
      ),
    },
    tasks: 3,
  }),
  hopeless: (i) => ({
    inputs: {
      agent: {
        kind: "scripted",
        patch: {
          files: [
            {
              path: "README.md",
              diff: `diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-no such line ${i}\n+x\n`,
            },
          ],
        },
      },
    },
    tasks: 1,
  }),
  sandbox: (i) => ({
    inputs: {
      agent: { kind: "scripted", commands: [`sleep ${(i % 8) / 2}; echo ${i} > made-${i}.txt`] },
      checks: [`test "$(cat made-${i}.txt)" = ${i}`],
    },
    tasks: 1,
  }),
};
