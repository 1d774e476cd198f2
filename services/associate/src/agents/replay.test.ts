import { describe, expect, it } from "vitest";
import type { AgentContext } from "../ports.ts";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { replayAgent } from "./replay.ts";

const PLAN = { nodes: [{ id: "a", kind: "compute", deps: [] }] };
const WRITTEN = { path: "plan.yaml", mode: "100644", content: Buffer.from("tasks: []\n") } as const;

async function changeFor(
  artifacts: string[],
  output: object,
  applied: object = { files: [], deletions: [] },
) {
  const dispatch = dispatchOf();
  dispatch.task.return.artifacts = artifacts;
  const trees = { check: () => [], apply: () => Promise.resolve(applied) };
  const recordings = { find: () => Promise.resolve({ tests: [], transcript: {}, ...output }) };
  const context = { dispatch, epoch: 1, trees, recordings } as unknown as AgentContext;
  const prepared = await replayAgent({ kind: "replay", seed: "s" }).prepare(context);
  if (prepared.kind !== "work") throw new Error("it asks");
  return prepared.change.files.map(({ path, content }) => [path, content.toString("utf8")]);
}

describe("a recorded session that planned", () => {
  it("gives its plan as the file that a PLAN task wants, without any diff", async () => {
    const [[path, text] = []] = await changeFor(["plan.yaml"], { plan: PLAN, patch: { files: [] } });
    expect(path).toBe("plan.yaml");
    expect(JSON.parse(text ?? "")).toEqual(PLAN);
  });

  it("keeps a plan.yaml that its patch writes, and gives none to other tasks", async () => {
    const diff = "--- /dev/null\n+++ b/plan.yaml\n@@ -0,0 +1 @@\n+tasks: []\n";
    const output = { plan: PLAN, patch: { files: [{ path: "plan.yaml", diff }] } };
    const applied = { files: [WRITTEN], deletions: [] };
    expect(await changeFor(["plan.yaml"], output, applied)).toEqual([["plan.yaml", "tasks: []\n"]]);
    expect(await changeFor([], output)).toEqual([]);
  });
});
