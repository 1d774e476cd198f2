// A fork that goes on after a model call needs the recordings of the calls up to it. Refuses one without them before it starts, and
// names the events that can be forked. The recordings are looked up; all else is pure.
import { ALL_CALLS, AntiphonError } from "@antiphon/contracts";
import type { EvidenceManifest, ForkPoint, StoredRecord } from "@antiphon/contracts";
import { factsOf, type RunFacts } from "@antiphon/run";
import { evidenceOf } from "../evidence/evidence-index.ts";

const RECORDING = /^egress\/model-\d+\.json$/;
const SHOWN = 8;

/**
 * @param records those of the run that is forked
 * @throws AntiphonError ANT_REPLAY_NO_RECORD
 */
export async function requireCalls(
  { run, task, epoch, calls }: ForkPoint,
  records: readonly StoredRecord[],
  manifest: (key: string) => Promise<EvidenceManifest | null>,
): Promise<void> {
  if (calls === 0) return;
  const facts = factsOf(records);
  const recorded = async (at: Attempt): Promise<number> => recordedCalls(facts, at, manifest);
  const found = await recorded({ task, epoch });
  if (found > 0 && (calls === ALL_CALLS || found >= calls)) return;
  const attempts = attemptsOf(facts).slice(0, SHOWN);
  const events = await Promise.all(attempts.map(async (at) => eventsOf(at, await recorded(at))));
  const message = `attempt ${epoch} of ${task} in ${run} has ${found} recorded model calls`;
  const remedy =
    events.length === 0
      ? "The run has no attempt yet that could be forked."
      : `Begin at one of these: ${events.join(", ")}. An attempt alone begins it again, and all its calls are made anew.`;
  throw new AntiphonError("ANT_REPLAY_NO_RECORD", message, { remedy, data: { path: "/inputs/fork/calls" } });
}

interface Attempt {
  readonly task: string;
  readonly epoch: number;
}

/** Those of agents whose work is proposed. One that judges a change cannot be forked. */
function attemptsOf({ tasks }: RunFacts): Attempt[] {
  return (tasks ?? [])
    .filter(({ planned }) => planned.gate === undefined)
    .flatMap(({ planned, attempts }) =>
      attempts
        .filter(({ dispatched }) => dispatched)
        .map(({ epoch }) => ({ task: planned.task.task_id, epoch })),
    );
}

async function recordedCalls(
  facts: RunFacts,
  at: Attempt,
  manifest: (key: string) => Promise<EvidenceManifest | null>,
): Promise<number> {
  const pointer = evidenceOf(facts).find(
    ({ taskId, epoch, kind }) => taskId === at.task && epoch === at.epoch && kind === "attempt",
  );
  const bundle = pointer === undefined ? null : await manifest(pointer.key);
  return bundle?.files.filter(({ path }) => RECORDING.test(path)).length ?? 0;
}

/** `T-001:1`, or `T-001:1/1 to T-001:1/3` of one with recorded calls. */
function eventsOf({ task, epoch }: Attempt, calls: number): string {
  const name = `${task}:${epoch}`;
  if (calls === 0) return name;
  return calls === 1 ? `${name}, ${name}/1` : `${name}, ${name}/1 to ${name}/${calls}`;
}
