// Carries out one accepted command: asks a Director for those on git and in a sandbox. Turns what really happened into
// events; a command always ends in one of them, except while the service that carries it out is away.
import { AntiphonError, DEFAULT_IMAGE, durationMs } from "@antiphon/contracts";
import type {
  Command,
  PolicyProfile,
  RepoRef,
  SessionConfig,
  SessionDeedDone,
  SessionDeedRequest,
  SessionEntry,
} from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import { checksThatStart } from "../intents/lacking-programs.ts";
import { locate, placesOf } from "../intents/repository-place.ts";
import { profilesFor, type Holding } from "../policy/policy-choice.ts";
import { policyDigest } from "../policy/policy-digest.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import { boundsOf } from "../policy/run-deed.ts";
import type { Backend } from "../ports.ts";
import type { SessionAdapters } from "./adapter-settings.ts";
import { speakerOf } from "./session-binding.ts";
import { workspaceIn, type PendingCommand } from "./session-log.ts";
import { waitingFor, type RequestApproval } from "./approval-request.ts";
import { withPlan } from "./session-plan.ts";
import { completed, type Said } from "./said.ts";

export interface ExecutorParts {
  readonly guard: PolicyGuard;
  readonly backend: Pick<Backend, "deed" | "images" | "inspect">;
  /** Also chooses the image of checks. */
  readonly inspect: Backend["inspect"];
  readonly adapters: SessionAdapters;
  now(): number;
}

export interface Execution {
  readonly config: SessionConfig;
  readonly entries: readonly SessionEntry[];
  readonly pending: PendingCommand;
  /** An earlier try may have had an effect. */
  readonly again: boolean;
}

/** The service that carries the command out is away or full, so the command waits. */
const PASSING: ReadonlySet<string> = new Set([
  ...["ANT_NATS_UNREACHABLE", "ANT_DIRECTOR_UNAVAILABLE", "ANT_RPC_TIMEOUT", "ANT_GIT_INTERRUPTED"],
  ...["ANT_SANDBOX_BUSY", "ANT_SANDBOX_RUNNER_LOST", "ANT_SANDBOX_CANCELED", "ANT_REPO_REMOTE_FETCHING"],
]);
/** A command that waited this long fails. */
const PATIENCE_MS = 600_000;
const DEFAULT_BUDGET_MS = 300_000;
const LONGEST_BUDGET_MS = 3_600_000;

export class CommandExecutor {
  readonly #parts: ExecutorParts;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  /**
   * The events that answer the command, in order. The last one completes it, except for `RequestApproval`, which a person
   * completes. Null: it waits.
   */
  async carryOut(execution: Execution, signal: AbortSignal): Promise<Said[] | null> {
    const { command, at } = execution.pending;
    try {
      return await this.#events(execution, signal);
    } catch (error) {
      const failure = AntiphonError.from(error);
      const waits = PASSING.has(failure.code) && this.#parts.now() - Date.parse(at) < PATIENCE_MS;
      if (waits || signal.aborted) return null;
      return [completed(command, "Failure", failure.detail, failure.code)];
    }
  }

  async #events(execution: Execution, signal: AbortSignal): Promise<Said[]> {
    const { command } = execution.pending;
    switch (command.command) {
      case "CreateBranch":
      case "ApplyPatch":
      case "GetDiff":
      case "Commit":
      case "Push":
      case "UploadArtifact":
      case "TransitionTicket":
      case "Comment":
      case "SetAssignee":
      case "QueryBacklog":
      case "QueryWorkItem":
        return this.#deed(execution, signal, null);
      case "BuildProject":
        if (!this.#parts.adapters.build) throw unavailable("a build adapter, which is opt-in");
        return this.#deed(execution, signal, command.payload);
      case "RunTests":
        return this.#deed(execution, signal, command.payload);
      case "RequestApproval":
        return [await this.#request(execution, command)];
    }
  }

  /** The request is bound to the policy of this moment. */
  async #request({ config, pending }: Execution, command: RequestApproval): Promise<Said> {
    const { places, held } = await this.#held(config, pending.principal ?? speakerOf(config));
    return waitingFor(config.sessionId, command, { digest: policyDigest(held), places });
  }

  /** `runs`: the command runs programs. */
  async #deed(
    { config, entries, pending, again }: Execution,
    signal: AbortSignal,
    runs: { timeout?: string } | null,
  ): Promise<Said[]> {
    const { command, principal, at } = pending;
    const { sessionId, repo } = config;
    const profiles = await this.#profiles(config, principal ?? speakerOf(config));
    const done = await this.#parts.backend.deed(
      {
        deedId: `dee_${uniqueId()}`,
        ...{ sessionId, at, again, repo, command },
        workspace: workspaceIn(entries),
        policy: boundsOf(profiles),
        grants: grantsOf(profiles),
        ...(runs === null ? {} : { room: await this.#room(repo, budgetOf(runs, profiles)) }),
      },
      signal,
    );
    return withPlan(config, entries, eventsOf(command, config, done));
  }

  /** The image and the services of the repository's checks, as for a run. */
  async #room(repo: RepoRef, budgetMs: number): Promise<NonNullable<SessionDeedRequest["room"]>> {
    const asked = { repo, allow_dirty: true, image_named: false, discover: true };
    const { services, verify_git, check_candidates, ...found } = await this.#parts.inspect(asked);
    const image = found.image?.ref ?? found.chosen_image ?? null;
    const { lacks } = await checksThatStart(this.#parts.backend, check_candidates, image ?? DEFAULT_IMAGE);
    return {
      image,
      ...(lacks.length === 0 ? {} : { lacks: [...lacks] }),
      ...(verify_git === true ? { git: true } : {}),
      ...(services === undefined ? {} : { services }),
      budgetMs,
    };
  }

  /** All profiles that hold for the repository and the sender, and the session's own. */
  async #profiles(config: SessionConfig, principal: string): Promise<PolicyProfile[]> {
    const { held } = await this.#held(config, principal);
    return [config.policy, ...held.map(({ profile }) => profile)];
  }

  async #held(
    { repo }: SessionConfig,
    principal: string,
  ): Promise<{ places: string[]; held: readonly Holding[] }> {
    const place = await locate(this.#parts.backend, repo);
    if (place === null)
      throw new AntiphonError("ANT_REPO_NOT_FOUND", `there is no repository at ${repo.path}`);
    const places = placesOf(place);
    return { places, held: profilesFor(await this.#parts.guard.policies(), places, principal) };
  }
}

/** What the command asks for, or the default; no more than a profile allows. */
function budgetOf({ timeout }: { timeout?: string }, profiles: readonly PolicyProfile[]): number {
  const asked = timeout === undefined ? DEFAULT_BUDGET_MS : Math.max(1, Math.ceil(durationMs(timeout)));
  const bounds = profiles.flatMap(({ maxTimeBudgetS }) =>
    maxTimeBudgetS === undefined ? [] : [maxTimeBudgetS * 1000],
  );
  return Math.min(asked, LONGEST_BUDGET_MS, ...bounds);
}

/** Protected paths that every profile lets a change touch. A profile without a list allows any. */
function grantsOf(profiles: readonly PolicyProfile[]): string[] {
  const lists = profiles.flatMap(({ allowedGrants }) => (allowedGrants === undefined ? [] : [allowedGrants]));
  const [first, ...others] = lists;
  return first === undefined ? ["**"] : first.filter((grant) => others.every((list) => list.includes(grant)));
}

function eventsOf(command: Command, { sessionId, repo }: SessionConfig, done: SessionDeedDone): Said[] {
  const { commandId } = command;
  const artifacts = done.artifacts.map(({ kind, blob, text, pathHint }): Said => {
    const downloadUri = `/sessions/${sessionId}/artifacts/${blob.name}`;
    const hint = pathHint === undefined ? {} : { pathHint };
    const inline = text === undefined ? {} : { inlineText: text };
    const payload = { commandId, kind, downloadUri, ...inline, ...hint };
    return { event: "ArtifactAvailable", payload, artifact: blob };
  });
  const { conflict, workspace, outcome, message, code } = done;
  const conflicts: Said[] =
    conflict === undefined ? [] : [{ event: "ConflictDetected", payload: { repo, ...conflict } }];
  return [
    ...artifacts,
    ...conflicts,
    ...workItemsOf(done),
    { ...completed(command, outcome, message, code), workspace },
  ];
}

/** The events that tell what a command about work items found. */
function workItemsOf({ items, details, throttled }: SessionDeedDone): Said[] {
  return [
    ...(items === undefined ? [] : [{ event: "BacklogQueried" as const, payload: { items } }]),
    ...(details === undefined ? [] : [{ event: "WorkItemQueried" as const, payload: { details } }]),
    ...(throttled === undefined ? [] : [{ event: "Throttled" as const, payload: throttled }]),
  ];
}

function unavailable(what: string): AntiphonError {
  return new AntiphonError("ANT_ADAPTER_UNAVAILABLE", `there is no ${what.replace(/^an? /, "")}`);
}
