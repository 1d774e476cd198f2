/**
 * What a skill is given: the files with the change, and the change as the one commit above them, with a message that says
 * nothing. Its author's words are in no commit, brief or file that the skill sees.
 */
import { AntiphonError, type DispatchBody, type PlannedGate } from "@antiphon/contracts";
import { changeFor, intentOf, type RunState } from "@antiphon/run";
import type { RepositoryPort, VerdictEvidencePort } from "../ports.ts";

interface Ports {
  readonly repository: Pick<RepositoryPort, "commit" | "diff">;
  readonly evidence: Pick<VerdictEvidencePort, "keep">;
}

export interface GateStart {
  readonly order: NonNullable<DispatchBody["gate"]>;
  /** A commit with the files of the change. */
  readonly commit: string;
}

/** A function of the records, so that a second Director gives the skill the same. */
export async function gateStart(
  run: RunState,
  taskId: string,
  gate: PlannedGate,
  { repository, evidence }: Ports,
): Promise<GateStart> {
  const change = changeFor(run, taskId, gate);
  if (change === null)
    throw new AntiphonError("ANT_JOURNAL_GAP", `no verified change of ${gate.of} waits for ${taskId}`);
  const { repo } = intentOf(run).base;
  const { head, commit, tree, at, attempt, integration } = change;
  const diff = await repository.diff(repo, head, commit);
  const [kept, neutral] = await Promise.all([
    evidence.keep(diff),
    repository.commit(repo, {
      ...{ parent: head, at, message: "The change to judge", trailers: {} },
      candidate: { tree, objects: [], overlay: [], deletions: [] }, // Its objects came with the verified commit.
    }),
  ]);
  const order = { skill: gate.skill, task: gate.of, attempt, commit, diff: kept };
  return { order: integration === null ? order : { ...order, integration }, commit: neutral };
}
