/**
 * Carries out the commands of sessions that concern git and sandboxes. The gateway asks for one at a time and keeps the
 * workspace in the session's log; a Director keeps nothing of a session, so any Director can take the next command.
 *
 * The number of open commands is bounded. The gateway hints at a stop, which ends a command early; nothing depends
 * on the hint, because it may be lost.
 */
import { AntiphonError, limits, requestProblem, validate } from "@antiphon/contracts";
import type { SessionDeedDone, SessionDeedEvent, SessionDeedRequest } from "@antiphon/contracts";
import type { Blobs } from "@antiphon/runtime";
import { applyPatch, commit, createBranch, getDiff } from "./branch-deeds.ts";
import type { CleanRoomPort } from "../ports.ts";
import type { DeedResult, MadeArtifact } from "./deed.ts";
import { push, type Proposals } from "./push-deed.ts";
import { buildProject, runTests } from "./sandbox-deeds.ts";
import { uploadArtifact } from "./upload-artifact.ts";
import { comment, queryBacklog, queryWorkItem, setAssignee, transitionTicket } from "./work-item-deeds.ts";
import type { WorkItems } from "../work-items/work-items.ts";
import type { SessionRepository } from "./session-repository.ts";

export interface SessionDeedParts {
  readonly repository: SessionRepository;
  readonly room: CleanRoomPort;
  /** Null: the deployment has none. */
  readonly workItems: WorkItems | null;
  /** Null: a push opens no pull request. */
  readonly proposals: Proposals;
  readonly files: Pick<Blobs, "get" | "put">;
  /** Ends all commands. */
  readonly signal: AbortSignal;
  /** Calls back when the gateway has given up; returns how to stop listening. */
  onCanceled(deedId: string, canceled: () => void): () => void;
}

export class SessionDeeds {
  readonly #parts: SessionDeedParts;
  #open = 0;

  constructor(parts: SessionDeedParts) {
    this.#parts = parts;
  }

  /** Emits signs of life, then the outcome. @throws AntiphonError if there is none */
  async answer(asked: SessionDeedRequest, emit: (event: SessionDeedEvent) => void): Promise<void> {
    const checked = validate("SessionDeedRequest", asked);
    if (!checked.ok) throw requestProblem("SessionDeedRequest", asked, checked.errors);
    if (this.#open >= limits.openDeeds)
      throw new AntiphonError("ANT_SANDBOX_BUSY", `${limits.openDeeds} commands are open already`);
    this.#open += 1;
    const canceled = new AbortController();
    const stopListening = this.#parts.onCanceled(asked.deedId, () => canceled.abort());
    const beat = setInterval(() => emit({ kind: "alive" }), limits.sandboxBeatMs);
    try {
      const signal = AbortSignal.any([this.#parts.signal, canceled.signal]);
      emit(await this.#done(await this.#carryOut(checked.value, signal)));
    } finally {
      clearInterval(beat);
      stopListening();
      this.#open -= 1;
    }
  }

  #carryOut({ command, ...rest }: SessionDeedRequest, signal: AbortSignal): Promise<DeedResult> {
    const { repository, workItems, proposals } = this.#parts;
    const setting = { ...rest, commandId: command.commandId };
    switch (command.command) {
      case "CreateBranch":
        return createBranch(repository)({ ...setting, payload: command.payload }, signal);
      case "ApplyPatch":
        return applyPatch(repository)({ ...setting, payload: command.payload }, signal);
      case "GetDiff":
        return getDiff(repository)({ ...setting, payload: command.payload }, signal);
      case "Commit":
        return commit(repository)({ ...setting, payload: command.payload }, signal);
      case "Push":
        return push(repository, proposals)({ ...setting, payload: command.payload }, signal);
      case "RunTests":
        return runTests(this.#parts)({ ...setting, payload: command.payload }, signal);
      case "BuildProject":
        return buildProject(this.#parts)({ ...setting, payload: command.payload }, signal);
      case "UploadArtifact":
        return uploadArtifact()({ ...setting, payload: command.payload }, signal);
      case "QueryBacklog":
        return queryBacklog(workItems)({ ...setting, payload: command.payload }, signal);
      case "QueryWorkItem":
        return queryWorkItem(workItems)({ ...setting, payload: command.payload }, signal);
      case "TransitionTicket":
        return transitionTicket(workItems)({ ...setting, payload: command.payload }, signal);
      case "SetAssignee":
        return setAssignee(workItems)({ ...setting, payload: command.payload }, signal);
      case "Comment":
        return comment(workItems)({ ...setting, payload: command.payload }, signal);
      default:
        throw new AntiphonError("ANT_ADAPTER_UNAVAILABLE", `no Director carries out ${command.command}`);
    }
  }

  async #done({ workspace, message, code, artifacts = [], ...found }: DeedResult): Promise<SessionDeedDone> {
    return {
      ...{ kind: "done", workspace, message, outcome: code === undefined ? "Success" : "Failure" },
      ...(code === undefined ? {} : { code }),
      artifacts: await Promise.all(artifacts.map((one) => this.#stored(one))),
      ...found,
    };
  }

  async #stored({ kind, bytes, pathHint }: MadeArtifact): Promise<SessionDeedDone["artifacts"][number]> {
    const blob = await this.#parts.files.put(null, bytes);
    const text = textOf(bytes);
    return { kind, blob, pathHint, ...(text === null ? {} : { text }) };
  }
}

/** Null: it is long, or no text. */
function textOf(bytes: Buffer): string | null {
  if (bytes.length > limits.sessionInlineBytes || bytes.includes(0)) return null;
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : null;
}
