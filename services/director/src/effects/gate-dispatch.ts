/**
 * What a skill is given: the files with the change, and the change as the one commit above them, with a message that says
 * nothing. Its author's words are in no commit, brief or file that the skill sees.
 */
import { AntiphonError, type DispatchBody, type PlannedGate } from "@antiphon/contracts";
import { intentOf, type RunState } from "@antiphon/run";
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
  { skill, of }: PlannedGate,
  { repository, evidence }: Ports,
): Promise<GateStart> {
  const task = run.tasks.find(({ planned }) => planned.task.task_id === of);
  const phase = task?.phase;
  if (phase?.kind !== "awaiting" || phase.verdict.commit === null || phase.verdict.tree === null)
    throw new AntiphonError("ANT_JOURNAL_GAP", `no verified change of ${of} waits for a ${skill}`);
  const { repo } = intentOf(run).base;
  const { head, commit, tree } = phase.verdict;
  const diff = await repository.diff(repo, head, commit);
  const [kept, neutral] = await Promise.all([
    evidence.keep(diff),
    repository.commit(repo, {
      ...{ parent: head, at: phase.at, message: "The change to judge", trailers: {} },
      candidate: { tree, objects: [], overlay: [], deletions: [] }, // Its objects came with the verified commit.
    }),
  ]);
  return { order: { skill, task: of, attempt: phase.epoch, commit, diff: kept }, commit: neutral };
}
