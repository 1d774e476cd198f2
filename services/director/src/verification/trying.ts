/** Tries a change in the clean rooms: what to ask of them, and how often, from the run, the policy and the change. */
import { AntiphonError } from "@antiphon/contracts";
import { openable } from "@antiphon/git";
import { uniqueId } from "@antiphon/runtime";
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import { EnvironmentFailed } from "../environments/environment-failed.ts";
import type { AppliedChange, CleanRoomPort, RepositoryPort } from "../ports.ts";
import type { BaseTrials } from "./base-trials.ts";
import { needsBase, type Demand } from "./demand.ts";
import type { Asks } from "./elsewhere.ts";
import type { KeptBases } from "./kept-base.ts";
import { ownTestsOf } from "./own-tests.ts";
import { touchedBy } from "./touched.ts";
import { roomRequest, tenantOf, trialsOf } from "./room-request.ts";
import { tryOut } from "./rooms.ts";
import { UNTRIED, type TriedOut } from "./tried-out.ts";

interface Ports {
  readonly repository: RepositoryPort;
  readonly room: CleanRoomPort;
  readonly bases?: BaseTrials | undefined;
}

interface Subject {
  readonly change: AppliedChange | null;
  readonly checks: readonly string[];
  readonly demand: Demand;
  /** Whether it still matters that the checks pass without any file. */
  readonly needsEmptied: (tried: TriedOut) => boolean;
}

/** The fault of a sandbox allows no verdict and is thrown; a setup or a service that the change broke is an answer. */
export async function tried(
  run: RunState,
  effect: EffectOf<"verify">,
  subject: Subject,
  ports: Ports,
  signal: AbortSignal,
): Promise<TriedOut | AntiphonError> {
  try {
    return await inRooms(run, effect, subject, ports, signal);
  } catch (error) {
    // The environment of the base was prepared before the attempt, so the change is what broke it.
    if (error instanceof EnvironmentFailed || isServiceFailure(error)) return error;
    throw error;
  }
}

async function inRooms(
  run: RunState,
  { taskId, epoch, task }: EffectOf<"verify">,
  { change, checks, demand, needsEmptied }: Subject,
  { repository, room, bases }: Ports,
  signal: AbortSignal,
): Promise<TriedOut> {
  if (checks.length === 0) return UNTRIED;
  const { options, base, policy } = intentOf(run);
  const request = await roomRequest(
    run,
    {
      ...{ taskId, epoch, task, checks },
      candidate: change?.candidate ?? null,
      trials: trialsOf(run, task, change?.chance ?? null),
    },
    repository,
  );
  const { grants } = options;
  const unnamed = async (opened: ReadonlySet<string>): Promise<readonly string[]> =>
    change === null ? [] : repository.openedFiles(base.repo, run.head, change, { grants, opened });
  const mayOpen = new Set(change === null ? [] : openable(change.files, grants));
  // A search of the whole tree takes a while, and its answer is kept. If it fails here, it is asked again later, and fails there.
  if (mayOpen.size > 0) unnamed(mayOpen).catch(() => undefined);
  const subject = {
    request: { ...request, purpose: "verify" as const },
    judges: [...(change?.judges ?? []), ...(change?.tests ?? [])],
    own: change === null || !(demand.ownTests || demand.sources) ? null : ownTestsOf(change),
    touched: demand.sources ? touchedBy(change) : { ...touchedBy(change), sources: [] },
    unnamed,
    // director/D5: edited sources that the check runs, and demands, need the answer of the base regardless of its time.
    waitForBase: (change?.unproven ?? []).length > 0 || needsBase(demand, policy),
    mayOpen,
    elsewhere: asksOf(change),
    needsEmptied,
  };
  const tenant = tenantOf(run);
  const kept: KeptBases | undefined = bases && {
    take: (bare, stop) => bases.take({ tenant, request: bare }, stop),
  };
  return tryOut(subject, { room, kept }, signal);
}

function asksOf(change: AppliedChange | null): Asks | null {
  if (change === null) return null;
  const { looksAround, readsVariables = false } = change;
  return { ...(looksAround === true ? { directory: `/tmp/${uniqueId()}/tree` } : {}), readsVariables };
}

/** A service sees no file of the change, so the same would happen again. */
function isServiceFailure(error: unknown): error is AntiphonError {
  return error instanceof AntiphonError && error.code === "ANT_SERVICE_FAILED";
}
