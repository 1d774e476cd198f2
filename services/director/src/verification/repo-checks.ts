/**
 * Checks a commit, with a change or without one, in the clean room and without a run: `antiphon check` and `antiphon init`.
 *
 * It goes through the gateway and the Director, and not from the command to a sandbox-runner, because that is no new way
 * in: the gateway's admission of runs (policy, rate limits, repository roots) comes first, the Director opens the
 * repository as for a run, and a sandbox is asked for as for a verdict. The only addition is one request at each of them.
 *
 * The rules of a verdict hold (the commit's tree and the change, no network, the commit decides which checks are
 * discovered), except that no path is protected: the change is the caller's own, and it lands nowhere. No record is
 * written. The output of the checks stays in the evidence store, where the same output is stored once.
 *
 * The number of open checks is bounded. A check ends at its time budget, or when the gateway passes on that its caller
 * has gone away; that hint may be lost, so it only saves time.
 */
import {
  AntiphonError,
  DEFAULT_HISTORY,
  isErrorCode,
  limits,
  type RepoCheckEvent,
  type RepoCheckRequest,
} from "@antiphon/contracts";
import type { Candidate, CleanRoomPort, RepositoryPort } from "../ports.ts";
import { requiredHistory } from "./history.ts";
import { endOf, startOf } from "./check-news.ts";
import { ONCE } from "./trials.ts";

export interface RepoCheckParts {
  readonly repository: Pick<
    RepositoryPort,
    "candidate" | "discoverChecks" | "otherChecks" | "exportBase" | "exportHistory"
  >;
  readonly room: CleanRoomPort;
  /** Ends all checks. */
  readonly signal: AbortSignal;
  /** Calls back when the caller of the check has gone away; returns how to stop listening. */
  onCanceled(checkId: string, canceled: () => void): () => void;
  /** Tells the caller what the check is at, beside what the sandbox-runner tells of its environment. May be lost. */
  tell(checkId: string, text: string): void;
}

type Order = Pick<RepoCheckRequest, "checkId" | "repo" | "commit" | "patch" | "image" | "budgetMs">;
type Checks = { commands: readonly string[]; discovered: boolean };

/** The place of a task in the subjects of a check. */
export const CHECK_TASK = "check";

export class RepoChecks {
  readonly #parts: RepoCheckParts;
  #open = 0;

  constructor(parts: RepoCheckParts) {
    this.#parts = parts;
  }

  /** Emits signs of life, then the outcome. @throws AntiphonError if there is none */
  async answer(request: RepoCheckRequest, emit: (event: RepoCheckEvent) => void): Promise<void> {
    if (this.#open >= limits.openChecks)
      throw new AntiphonError("ANT_SANDBOX_BUSY", `${limits.openChecks} checks are open already`);
    this.#open += 1;
    const canceled = new AbortController();
    const stopListening = this.#parts.onCanceled(request.checkId, () => canceled.abort());
    const beat = setInterval(() => emit({ kind: "alive" }), limits.sandboxBeatMs);
    try {
      emit(await this.#check(request, AbortSignal.any([this.#parts.signal, canceled.signal])));
    } finally {
      clearInterval(beat);
      stopListening();
      this.#open -= 1;
    }
  }

  async #check(request: RepoCheckRequest, signal: AbortSignal): Promise<RepoCheckEvent> {
    const { repository, room } = this.#parts;
    const { checkId, repo, commit, image, budgetMs, services, lacks } = request;
    const discovered = request.checks.length === 0;
    const commands = discovered ? await repository.discoverChecks(repo, commit, lacks) : request.checks;
    const candidate = await this.#candidate(request, { commands, discovered });
    const tree = await repository.exportBase(repo, commit);
    const done = { kind: "done", commit, discovered } as const;
    if (commands.length === 0) return { ...done, checks: [] };
    const base = { repo, ref: "HEAD", commit };
    const history =
      request.git === true ? await requiredHistory(base, commit, DEFAULT_HISTORY, repository) : null;
    const say = (text: string): void => this.#parts.tell(checkId, text);
    say("waiting for a sandbox");
    const { trials } = await room.check(
      {
        ...{ run: checkId, task: CHECK_TASK, epoch: 1, purpose: "verify", trials: ONCE },
        ...{ tree, history, candidate, checks: commands, image, budgetMs },
        setup: { repo, base: commit, lacks },
        again: true,
        news: {
          started: () => say(startOf(commands)),
          ended: (index, exitCode) => say(endOf(commands, index, exitCode)),
        },
        ...(services === undefined ? {} : { room: { services } }),
      },
      signal,
    );
    const checks = [...(trials[0] ?? [])];
    const others =
      discovered && checks.some(({ exitCode }) => exitCode !== 0)
        ? await repository.otherChecks(repo, commit)
        : [];
    return { ...done, checks, ...(others.length === 0 ? {} : { others }) };
  }

  async #candidate(
    { repo, commit, patch }: Order,
    { commands, discovered }: Checks,
  ): Promise<Candidate | null> {
    if (patch === null) return null;
    const outcome = await this.#parts.repository.candidate(repo, commit, Buffer.from(patch), {
      scope: [],
      grants: ["**"],
      checks: commands,
      discovered,
      base: commit,
    });
    if (outcome.kind === "candidate") return outcome.candidate;
    throw new AntiphonError(
      isErrorCode(outcome.code) ? outcome.code : "ANT_PATCH_DOES_NOT_APPLY",
      outcome.message,
    );
  }
}
