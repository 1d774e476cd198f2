/** Starts and watches runs over plain HTTP, which takes agents that the command does not offer. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { eventually } from "./program.ts";
import { makeProject, type Project } from "./project.ts";
import { startStack, type Stack } from "./stack.ts";

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
  /** One for all tests of the file. */
  readonly stack: () => Stack;
  /** Makes the project of a test, which is removed after it. */
  readonly make: typeof makeProject;
  /** Starts a run on the project and returns its id. */
  readonly begin: (inputs: object, constraints?: object, goal?: string) => Promise<string>;
  readonly view: (runId: string) => Promise<View>;
  /** Waits until the run has one of the statuses. */
  readonly until: (runId: string, ...wanted: string[]) => Promise<View>;
}

/** Called once, at the top of a file. */
export function runsOverHttp(): RunsOverHttp {
  let stack: Stack;
  let project: Project;
  beforeAll(async () => {
    stack = await startStack();
  });
  afterAll(() => stack.stop());
  afterEach(() => project.remove());
  const view = async (runId: string): Promise<View> =>
    (await stack.http("GET", `/runs/${runId}`)).body as unknown as View;
  return {
    stack: () => stack,
    make: (...made) => (project = makeProject(...made)),
    view,
    async begin(inputs, constraints = {}, goal = "Fix the broken add") {
      const intent = { goal, inputs: { repo: project.path, ...inputs }, constraints };
      const { body } = await stack.http("POST", "/intents", intent);
      const answer = await stack.http("POST", `/intents/${String(body["intentId"])}/run`);
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
