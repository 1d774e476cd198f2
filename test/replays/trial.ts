/** Has an agent mend a repository, and carries the recorded attempt out once more in another image. */
import type { ReplayReport } from "@antiphon/contracts";
import { makeProject } from "../e2e/support/project.ts";
import type { Stack } from "../e2e/support/stack.ts";
import type { BrokenRepository } from "./repository.ts";

export interface Trial {
  readonly language: string;
  readonly name: string;
  readonly agent: string;
  readonly report: ReplayReport;
}

export interface Room {
  readonly stack: Pick<Stack, "json">;
  /** The other image. */
  readonly image: string;
}

/** An agent pack, with the model and the host of its calls. */
export interface Agent {
  readonly name: string;
  readonly model: string;
  readonly host: string;
}

/** The first run of a pack installs it. */
const PATIENCE_MS = 600_000;

/** Throws if the run does not land. */
export async function tryElsewhere(
  { stack, image }: Room,
  language: string,
  repository: BrokenRepository,
  { name: agent, model, host }: Agent,
): Promise<Trial> {
  const { name, goal, files, check, also } = repository;
  const project = makeProject({ ...files });
  try {
    const { document: ran } = await stack.json<{ runId: string; status: string; message: string }>(
      [
        ...["run", goal, "--repo", project.path, "--check", check, "--attempts", "1", "--workflow", "DEBUG"],
        ...["--agent", agent, "--model", model, "--model-host", host, "--model-usd", "5"],
        ...(also === undefined ? [] : ["--grant", also.writes]),
      ],
      { timeoutMs: PATIENCE_MS },
    );
    if (ran.status !== "succeeded" || project.landed(ran.runId).length !== 1)
      throw new Error(`${language} ${name} by ${agent} was not recorded: ${JSON.stringify(ran)}`);
    const replay = ["replay", ran.runId, "--image", image];
    const { document } = await stack.json<{ reports?: ReplayReport[] }>(replay, { timeoutMs: PATIENCE_MS });
    const report = document.reports?.[0];
    if (report === undefined) throw new Error(`${language} ${name}: ${JSON.stringify(document)}`);
    return { language, name, agent, report };
  } finally {
    project.remove();
  }
}
