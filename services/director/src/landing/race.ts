/**
 * Which run of a race may land. Before its own branch, a run makes a branch of the race at its verified commit, which git lets only
 * one run do: it holds the race. If the landing of that one then fails, the next verified run takes the race over by making the
 * next branch, `antiphon/<race>-2`.
 *
 * While the holder of a race is open, another run of it waits. A branch that no run of the race has made is passed over: it is no
 * evidence that one of them has landed.
 *
 * Promises:
 *   director/D13 Because the end of a run is final (run/R3), a run takes a race over only after the end of its holder,
 *     without success, is in the journal, and is ended as a loser only after the success of another run is, whose
 *     commit is on the race's branch; so at most one run of a race succeeds.
 */
import { AntiphonError, type ClosedBody, type LandingBody, type RepoRef } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import type { RepositoryPort } from "../ports.ts";

export interface RacePorts {
  readonly repository: Pick<RepositoryPort, "land" | "tip" | "runsOf">;
  readonly journal: Pick<Journal, "read">;
}

interface Race {
  readonly name: string;
  readonly repo: RepoRef;
}

type Refused = Extract<LandingBody, { kind: "refused" }>;

/** More holders than a race has runs; each of them has failed, or is no run of it. */
const MOST_HOLDERS = 64;

export function raceBranch(race: string, nth = 1): string {
  return `refs/heads/antiphon/${race}${nth === 1 ? "" : `-${nth}`}`;
}

/**
 * Null: the run that made the commit holds the race. Asked again, it holds it still, so a Director that died before the run's own
 * landing changes nothing.
 * @throws AntiphonError ANT_RACE_UNDECIDED while the run that holds it is open
 */
export async function takeRace(race: Race, commit: string, ports: RacePorts): Promise<Refused | null> {
  for (let nth = 1; nth <= MOST_HOLDERS; nth += 1) {
    const made = await ports.repository.land(race.repo, raceBranch(race.name, nth), commit, null);
    if (made.kind === "landed") return null;
    if (made.code !== "ANT_LANDING_HEAD_MOVED") return made;
    const holder = await holderOf(race, nth, ports);
    if (holder === "foreign") continue; // Nobody of the race has landed on it.
    if (holder === null)
      throw new AntiphonError("ANT_RACE_UNDECIDED", `the branch of ${race.name} was removed meanwhile`);
    if (holder.end === null)
      throw new AntiphonError("ANT_RACE_UNDECIDED", `${holder.runId} holds ${race.name} and has not ended`);
    if (holder.end === "succeeded") return lost(`another run of ${race.name} landed first: ${made.message}`);
  }
  return lost(`${MOST_HOLDERS} runs of ${race.name} have failed to land`); // director/D13: each has had its turn.
}

/** The run that has landed and ended as succeeded; null: there is none yet. */
export async function winnerOf(race: Race, ports: RacePorts): Promise<string | null> {
  for (let nth = 1; nth <= MOST_HOLDERS; nth += 1) {
    const holder = await holderOf(race, nth, ports);
    if (holder === "foreign") continue;
    if (holder === null || holder.end === null) return null;
    if (holder.end === "succeeded") return holder.runId;
  }
  return null;
}

interface Holder {
  readonly runId: string;
  /** Null: it is open. */
  readonly end: ClosedBody["status"] | null;
}

/**
 * Null: there is no such branch. `foreign`: there is, and no run of this race has a commit near its tip. People may add commits to
 * the branch of a run, which holds the race still.
 */
async function holderOf(
  race: Race,
  nth: number,
  { repository, journal }: RacePorts,
): Promise<Holder | "foreign" | null> {
  const commit = await repository.tip(race.repo, raceBranch(race.name, nth));
  if (commit === null) return null;
  for (const runId of new Set(await repository.runsOf(race.repo, commit))) {
    const records = await journal.read(runId, ["intent", "closed"]);
    if (!records.some(({ type, body }) => type === "intent" && body.options.race === race.name)) continue;
    const closed = records.find((record) => record.type === "closed");
    return { runId, end: closed?.body.status ?? null };
  }
  return "foreign";
}

function lost(message: string): Refused {
  return { kind: "refused", code: "ANT_RACE_LOST", message };
}
