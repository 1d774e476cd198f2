/** Starts and watches runs over plain HTTP, which takes agents that the command does not offer. */
import { expect } from "vitest";
import { eventually } from "./program.ts";
import type { Project } from "./project.ts";
import type { Stack } from "./stack.ts";

interface Step {
  id: string;
  status: string;
  phase: string;
  epoch: number;
  attempts: number;
  verdict: string | null;
  code: string | null;
}
export interface View {
  status: string;
  steps: Step[];
}

export interface RunsOverHttp {
  /** Starts a run on the project and returns its id. */
  readonly begin: (inputs: object, constraints?: object, goal?: string) => Promise<string>;
  readonly view: (runId: string) => Promise<View>;
  /** Waits until the run has one of the statuses. */
  readonly until: (runId: string, ...wanted: string[]) => Promise<View>;
}

/** Both are asked for at each use, because a test's project is made in the test. */
export function runsOver(stack: () => Stack, project: () => Project): RunsOverHttp {
  const view = async (runId: string): Promise<View> =>
    (await stack().http("GET", `/runs/${runId}`)).body as unknown as View;
  return {
    view,
    async begin(inputs, constraints = {}, goal = "Fix the broken add") {
      const intent = { goal, inputs: { repo: project().path, ...inputs }, constraints };
      const { body } = await stack().http("POST", "/intents", intent);
      const answer = await stack().http("POST", `/intents/${String(body["intentId"])}/run`);
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      return String(answer.body["runId"]);
    },
    until: (runId, ...wanted) =>
      eventually(
        `${runId} ${wanted.join(" or ")}`,
        async () => {
          const now = await view(runId);
          return wanted.includes(now.status) ? now : null;
        },
        60_000,
      ),
  };
}
