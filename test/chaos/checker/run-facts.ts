/** Groups a history by run, for the invariants. */
import type { ClientCall, ContainerEvent, GitCommit, GitRef, History } from "./history.ts";
import type { RunFacts } from "./invariant.ts";
import type { StoredRecord } from "@antiphon/contracts";

const RUN_BRANCH = /^refs\/heads\/antiphon\/(run_[a-z0-9]+)$/;

/** The run a branch belongs to; null: not one of ours. */
export function runOfRef(name: string): string | null {
  return RUN_BRANCH.exec(name)?.[1] ?? null;
}

export function runsOf(history: History): Map<string, RunFacts> {
  const records = grouped(history.records, (record: StoredRecord) => record.runId);
  const calls = grouped(history.calls, (call: ClientCall) => call.runId);
  const commits = grouped(history.commits, (commit: GitCommit) => commit.trailers["Antiphon-Run"] ?? null);
  const refs = grouped(history.refs, (ref: GitRef) => runOfRef(ref.name));
  const containers = grouped(history.containers, (event: ContainerEvent) => event.job?.runId ?? null);
  const ids = new Set([...records.keys(), ...calls.keys(), ...commits.keys(), ...refs.keys()]);
  return new Map(
    [...ids].map((runId) => [
      runId,
      {
        runId,
        records: (records.get(runId) ?? []).toSorted((a, b) => a.seq - b.seq),
        calls: calls.get(runId) ?? [],
        commits: commits.get(runId) ?? [],
        refs: refs.get(runId) ?? [],
        containers: containers.get(runId) ?? [],
      },
    ]),
  );
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string | null): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
