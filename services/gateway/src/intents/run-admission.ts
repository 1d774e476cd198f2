// Decides whether a run of an intent may start: inspects the repository and asks the policy. Stores nothing.
import { AntiphonError, DEFAULT_IMAGE, isMaterial, looksLikeUrl } from "@antiphon/contracts";
import type {
  InheritedBudget,
  Intent,
  PolicyBounds,
  PolicyProfile,
  RepoBase,
  RunOptions,
} from "@antiphon/contracts";
import { requireCalls } from "./fork-calls.ts";
import { checkSource, sourcesOf } from "./fork-source.ts";
import { isPackOf } from "../operations/known-pack.ts";
import {
  broughtJudge,
  checkGates,
  ownJudge,
  preparesJudges,
  withNamedJudge,
  withRepositoryGates,
} from "./gate-agents.ts";
import { checkTaskGrants } from "./task-grants.ts";
import { checksThatStart } from "./lacking-programs.ts";
import { checkNamedImages } from "./named-images.ts";
import { checkPaidAgents } from "./paid-agents.ts";
import { briefChoice } from "./connector-choice.ts";
import { briefSources, readSources, requireConnectors } from "./connector-reading.ts";
import { runOptionsOf } from "./run-options.ts";
import type { Judged, PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";
import { locate, placeOf, placesOf } from "./repository-place.ts";
import type { Inspected } from "./repository-place.ts";
import type { Tenancy } from "../identity/roles.ts";
import { requireOwnRepository, speakerOf } from "../sessions/session-binding.ts";
import type { SessionBinding } from "../sessions/session-binding.ts";

/** The authenticated caller, and its session of a repository or null. */
export interface Caller {
  readonly principal: string;
  readonly session: SessionBinding | null;
  /** Absent: the intent may name its tenant. */
  readonly tenancy?: Tenancy;
  /** The call comes from a session's command, which was judged and counted already. */
  readonly accepted?: boolean;
  /** The header of the request. */
  readonly traceparent?: string;
}

export interface AdmittedRun {
  readonly options: RunOptions;
  readonly base: RepoBase;
  readonly policy: PolicyBounds;
  /** Who chose the proof of the run that this one forks or does again. */
  readonly provenBy: readonly string[];
}

/** The owner of the intent and the run. */
export function speaker({ principal, session }: Caller): string {
  return session === null ? principal : speakerOf(session);
}

export class RunAdmission {
  readonly #backend: Backend;
  readonly #guard: PolicyGuard;
  readonly #inspectRepository: Backend["inspect"];
  readonly #packFolders: readonly string[];

  /** `packFolders`: the agent packs of the deployment. */
  constructor(
    backend: Backend,
    guard: PolicyGuard,
    inspect: Backend["inspect"],
    packFolders: readonly string[] = [],
  ) {
    this.#backend = backend;
    this.#guard = guard;
    this.#inspectRepository = inspect;
    this.#packFolders = packFolders;
  }

  /** @throws AntiphonError ANT_POLICY_THROTTLED */
  async call({ principal, accepted = false }: Caller): Promise<void> {
    if (!accepted) await this.#guard.admitCall(principal);
  }

  /**
   * Judges an intent by its own content; `run` also inspects the repository.
   * @throws AntiphonError ANT_POLICY_REFUSED, ANT_POLICY_THROTTLED
   */
  async intent(intent: Intent, caller: Caller): Promise<void> {
    if (caller.accepted === true) return;
    const options = caller.session === null ? readable(intent) : runOptionsOf(intent);
    if (options === null) return;
    const { repo } = options;
    if (caller.session !== null)
      requireOwnRepository(caller.session, await locate(this.#backend, repo), repo.path);
    const projects = briefChoice(intent)?.projects ?? [];
    const places = [repo, ...projects].map(({ path }) => normalPath(path));
    await this.#guard.admitRun({ ...asker(caller), intent, options, places, landRef: null });
  }

  /** @throws AntiphonError ANT_CONNECTOR_UNAVAILABLE */
  connectors(intent: Intent): Promise<void> {
    return requireConnectors(this.#backend, intent);
  }

  /**
   * `inherited`: budgets that a retry takes over.
   * @throws AntiphonError ANT_POLICY_REFUSED, ANT_POLICY_THROTTLED, ANT_REPO_*, ANT_CONNECTOR_UNAVAILABLE, ANT_WORK_ITEMS_*, ANT_GATE_OWN_JUDGE, ANT_REPLAY_NO_RECORD, ANT_SANDBOX_IMAGE_*
   */
  async run(
    intent: Intent,
    options: RunOptions,
    caller: Caller,
    inherited: readonly InheritedBudget[] = [],
  ): Promise<AdmittedRun> {
    if (isMaterial(options.repo)) return this.#brief(intent, options, caller, inherited);
    const found = await this.#inspect(options, caller.session);
    const provenBy: string[] = [];
    for (const source of sourcesOf(options)) {
      const { tenant } = options;
      const of = { repo: found.base.repo, ...(tenant === undefined ? {} : { tenant }) };
      const records = await this.#backend.read(source.run);
      provenBy.push(...checkSource(source, of, records));
      const { fork } = options;
      if (fork?.run === source.run) await requireCalls(fork, records, (key) => this.#backend.manifest(key));
    }
    const places = placesOf(placeOf(found));
    const landRef = found.land_ref ?? null;
    const asked = { ...asker(caller), intent, options, places, landRef, inherited };
    const judged = await this.#guard.admitRun(asked, caller.accepted);
    const demanded = await this.#judged(judged, found.gates);
    checkPaidAgents(demanded);
    checkTaskGrants(demanded);
    await checkNamedImages(this.#backend, demanded, found.image);
    // The run records its image, so a later change of the repository's configuration does not affect it.
    const used = found.image?.ref ?? found.chosen_image;
    const image = used === undefined ? {} : { image: used };
    const runsIn = used ?? options.image ?? DEFAULT_IMAGE;
    const over = await checksThatStart(this.#backend, found.check_candidates, runsIn);
    const notes = [found.image_note, over.note].filter((one) => one !== undefined && one !== null);
    const note = {
      ...(notes.length === 0 ? {} : { image_note: notes.join("; ") }),
      ...(over.lacks.length === 0 ? {} : { image_lacks: [...over.lacks] }),
      ...(await this.#lacksOfTasks(demanded, found, runsIn)),
    };
    const { absent, services } = found;
    const repository = {
      ...(options.verify_git === undefined && found.verify_git === true ? { verify_git: true } : {}),
      ...(services === undefined ? {} : { services }),
      ...(absent === undefined ? {} : { absent }),
    };
    return {
      options: { ...demanded, ...image, ...note, ...repository },
      base: found.base,
      policy: judged.bounds,
      provenBy,
    };
  }

  /** Programs that the images of single tasks lack, so that a check found for such a task is one that its image can start. */
  async #lacksOfTasks(
    { tasks = [] }: RunOptions,
    { check_candidates }: Inspected,
    image: string,
  ): Promise<Pick<RunOptions, "task_image_lacks">> {
    const named = new Set(tasks.flatMap((task) => task.image ?? []));
    named.delete(image);
    const lacks: Record<string, string[]> = {};
    for (const one of named) {
      const over = await checksThatStart(this.#backend, check_candidates, one);
      if (over.lacks.length > 0) lacks[one] = [...over.lacks];
    }
    return Object.keys(lacks).length === 0 ? {} : { task_image_lacks: lacks };
  }

  /** The options with the skills that judge the changes, and who they are. */
  async #judged({ options, bounds, judges }: Judged, byRepository: Inspected["gates"]): Promise<RunOptions> {
    const gates = withNamedJudge(withRepositoryGates(options.gates, byRepository), judges);
    const demanded = gates === undefined ? options : { ...options, gates };
    checkGates(demanded, bounds, byRepository);
    if (preparesJudges(demanded, bounds, judges))
      throw ownJudge("the run's own commands would prepare what its judges run in", "/inputs/setup");
    const brought = broughtJudge(demanded, bounds, judges);
    if (brought === null || (await isPackOf(this.#packFolders, brought))) return demanded;
    throw ownJudge(`the run would bring the ${brought.kind} agent that judges its changes`);
  }

  /** Nothing is read before the policy of each project allows it. */
  async #brief(
    intent: Intent,
    options: RunOptions,
    caller: Caller,
    inherited: readonly InheritedBudget[],
  ): Promise<AdmittedRun> {
    if (caller.session !== null) requireOwnRepository(caller.session, null, options.repo.path);
    const sources = await briefSources(this.#backend, intent);
    const { places } = sources;
    const asked = { ...asker(caller), intent, options, places, landRef: null, inherited };
    const judged = await this.#guard.admitRun(asked, caller.accepted);
    checkPaidAgents(judged.options);
    checkTaskGrants(judged.options);
    const base = await readSources(this.#backend, sources);
    return { options: judged.options, base, policy: judged.bounds, provenBy: [] };
  }

  /** A session learns nothing about other repositories, not even whether they exist. */
  async #inspect(options: RunOptions, session: SessionBinding | null): Promise<Inspected> {
    const { repo, base_ref, land_on, allow_dirty, image } = options;
    if (session !== null) requireOwnRepository(session, await locate(this.#backend, repo), repo.path);
    const found = await this.#inspectRepository({
      repo,
      allow_dirty,
      image_named: image !== undefined,
      // A setup of the run may bring any program.
      ...(options.checks.length === 0 && options.setup === undefined ? { discover: true } : {}),
      ...(base_ref === undefined ? {} : { base_ref }),
      ...(land_on === undefined ? {} : { land_on }),
    });
    if (session !== null) requireOwnRepository(session, placeOf(found), repo.path);
    return found;
  }
}

/** The principal and the session policy that the guard applies. */
function asker({ principal, session }: Caller): { principal: string; sessionPolicy?: PolicyProfile } {
  return session === null ? { principal } : { principal: session.owner, sessionPolicy: session.policy };
}

/** Null: the options are invalid, so there is nothing to judge; starting the run will be refused with the reason. */
function readable(intent: Intent): RunOptions | null {
  try {
    return runOptionsOf(intent);
  } catch (error) {
    // An intent is stored, and what is wrong with a URL may be a password in it.
    const isUrl = error instanceof AntiphonError && error.code === "ANT_REPO_URL_INVALID";
    if (error instanceof AntiphonError && !isUrl) return null;
    throw error;
  }
}

/** Removes `.`, `..` and empty parts without resolving links. */
function normalPath(path: string): string {
  if (looksLikeUrl(path)) return path;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
