// Which past runs a bake-off does again: each task once, because a task that counts twice makes the intervals too narrow. Runs of
// an earlier bake-off, retries, the runs of a race and most forks repeat the task of another run.
import { isMaterial } from "@antiphon/contracts/runs/connectors";
import type { PastBody } from "./past-task.ts";

export interface Sample {
  /** The newest run of each task. */
  readonly tasks: readonly { readonly of: string; readonly body: PastBody }[];
  /** Runs whose task a newer one has. */
  readonly repeated: readonly string[];
  readonly withoutRepository: readonly string[];
}

/** @param runs ids, the newest first. @param read null: the run has no intent on record. */
export async function sampleOf(
  runs: readonly string[],
  limit: number,
  read: (runId: string) => Promise<PastBody | null>,
): Promise<Sample> {
  const tasks = new Map<string, { of: string; body: PastBody }>();
  const repeated: string[] = [];
  const withoutRepository: string[] = [];
  for (const of of runs) {
    if (tasks.size >= limit) break;
    const body = await read(of);
    if (body === null || isMaterial(body.base.repo)) withoutRepository.push(of);
    else if (tasks.has(taskKey(body))) repeated.push(of);
    else tasks.set(taskKey(body), { of, body });
  }
  return { tasks: [...tasks.values()], repeated, withoutRepository };
}

function taskKey({ intent: { goal }, options: { checks, tasks = [] }, base: { commit } }: PastBody): string {
  return JSON.stringify([goal, commit, checks, tasks.map(({ description }) => description)]);
}

/** What is left out, for people; the ids in the JSON. */
export function leftOutLines({ repeated, withoutRepository }: Sample): string[] {
  const lines: string[] = [];
  if (repeated.length > 0)
    lines.push(
      `${runs(repeated)} left out: goal, base commit and checks are those of a newer run (${some(repeated)})`,
    );
  if (withoutRepository.length > 0)
    lines.push(`${runs(withoutRepository)} left out: no repository (${some(withoutRepository)})`);
  return lines;
}

const SHOWN = 5;

const runs = ({ length }: readonly string[]): string => `${length} ${length === 1 ? "run is" : "runs are"}`;

const some = (ids: readonly string[]): string =>
  ids.slice(0, SHOWN).join(", ") + (ids.length > SHOWN ? ", ..." : "");
