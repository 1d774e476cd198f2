/** The change of a proposal, applied to the run's head by the rules of the run; or why it is refused. */
import { changesFiles } from "@antiphon/contracts";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type { AppliedChange, RepositoryPort, VerdictEvidencePort } from "../ports.ts";
import type { Checks } from "./checks-of.ts";

export interface Refused {
  readonly kind: "refused";
  readonly code: string;
  readonly message: string;
}

interface Ports {
  readonly repository: Pick<RepositoryPort, "candidate">;
  readonly evidence: Pick<VerdictEvidencePort, "patch">;
}

/** Null: a task that may leave the files as they are, and did. */
export async function applied(
  run: RunState,
  { task: { planned }, phase }: EffectOf<"verify">,
  checks: Checks,
  { repository, evidence }: Ports,
): Promise<AppliedChange | Refused | null> {
  const { options, base, policy } = intentOf(run);
  const { patch } = phase.report;
  const { task } = planned;
  if (patch === null)
    return task.kind === "edit_repo" ? refusal("ANT_PATCH_EMPTY", "the attempt changed nothing") : null;
  if (!changesFiles(task)) return refusal("ANT_TASK_MODIFIED_FILES", "a task that only reads changed files");
  return repository.candidate(base.repo, run.head, await evidence.patch(patch), {
    scope: options.scope,
    grants: options.grants,
    checks: checks.commands,
    discovered: checks.discovered,
    base: base.commit,
    ...(policy === undefined ? {} : { policy }),
    ...(planned.scope === undefined ? {} : { files: planned.scope }),
  });
}

const refusal = (code: string, message: string): Refused => ({ kind: "refused", code, message });
