// Sessions of Contracts v1.3: they take commands, apply the policy and answer with events.
//
// Lifecycle of a command: judged -> rejected, or accepted -> carried out -> completed. Each step is an entry of the
// session's log, a row of registers that are written once, so any gateway can take the next step. The next request
// about a session continues its accepted commands. A session is bound to the repository it was opened with, by location:
// a command about another repository is rejected, without revealing whether that one exists.
//
// Promises:
//   gateway/G6 Because a command is dispatched only after the deployment's policy has allowed it, and its decision is
//     written once, a session cannot bring a policy of its own, and a command id that is sent again gets the same answer.
import { AntiphonError, limits, validate } from "@antiphon/contracts";
import type {
  Command,
  Correlation,
  PolicyConfig,
  PolicyProfile,
  SessionConfig,
  SessionEntry,
  SessionEvent,
} from "@antiphon/contracts";
import { factsOf } from "@antiphon/run";
import { planCommand } from "./command-plan.ts";
import { CommandDecision } from "./command-decision.ts";
import type { PolicyVerdict } from "./command-policy.ts";
import { malformed } from "../http/malformed.ts";
import { profilesFor } from "../policy/policy-choice.ts";
import { eventsFor, isDecided, isTold, pendingCommands } from "./session-log.ts";
import type { PendingCommand } from "./session-log.ts";
import type { IntentIntake } from "../intents/intent-intake.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";
import { locate, placeOf, placesOf } from "../intents/repository-place.ts";
import type { RepositoryPlace } from "../intents/repository-place.ts";
import { speakerOf } from "./session-binding.ts";
import type { SessionBinding } from "./session-binding.ts";

export interface SessionLog {
  readonly config: SessionConfig;
  readonly entries: readonly SessionEntry[];
}

/** Each session is a row of write-once registers; register 0 is its configuration. */
export interface SessionStore {
  /** False: the register is already written. */
  write(sessionId: string, register: number, document: SessionConfig | SessionEntry): Promise<boolean>;
  read(sessionId: string): Promise<SessionLog | null>;
  policies(): Promise<PolicyConfig>;
}

interface Parts {
  readonly store: SessionStore;
  readonly intake: IntentIntake;
  readonly guard: PolicyGuard;
  readonly backend: Pick<Backend, "inspect" | "read">;
  now(): number;
}

/** An event without its sequence and time. */
type Said = Pick<SessionEvent, "event" | "payload">;
/** An event that reports the result of an accepted command. */
type Outcome = Said & { event: "ArtifactAvailable" | "CommandCompleted" };

export class CommandSessions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws AntiphonError ANT_POLICY_UNKNOWN if the deployment has no profile of that name; ANT_REPO_* */
  async open(sessionId: string, body: unknown, principal: string): Promise<SessionConfig> {
    const outcome = validate("SessionRequest", body);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    const { policy: name, repo, workspace, workItem, agentProfile = "default" } = outcome.value;
    const policies = await this.#parts.guard.policies();
    const named = name === undefined ? null : namedProfile(policies, name);
    const place = placeOf(await this.#parts.backend.inspect({ repo, allow_dirty: true, image_named: true }));
    if (workspace !== undefined) await this.#requireWorkspace(workspace.path, place);
    const [held] = profilesFor(policies, placesOf(place), principal);
    const policy = named ?? held?.profile ?? namedProfile(policies, policies.defaultProfile);
    const ticket = workItem === undefined ? {} : { workItem };
    const config: SessionConfig = {
      ...{ sessionId, policy, repo: { name: repo.name, path: place.top } },
      workspace: workspace ?? { path: place.top },
      ...ticket,
      agentProfile,
    };
    await this.#parts.store.write(sessionId, 0, config);
    await this.#say(
      sessionId,
      [],
      { sessionId },
      { event: "SessionStatusChanged", payload: { sessionId, status: "open" } },
    );
    return config;
  }

  /** A workspace must be a work tree of the session's repository. */
  async #requireWorkspace(path: string, { top, home }: RepositoryPlace): Promise<void> {
    const found = await locate(this.#parts.backend, { name: "workspace", path });
    if (found !== null && (found.top === top || found.home === home)) return;
    const message = `/workspace/path: ${path} is not a work tree of the session's repository`;
    throw new AntiphonError("ANT_CONTRACT_INVALID", message, { data: { path: "/workspace/path" } });
  }

  /** The repository and policy the session is bound to. @throws AntiphonError ANT_SESSION_NOT_FOUND */
  async binding(sessionId: string, owner: string): Promise<SessionBinding> {
    const { config } = await this.#log(sessionId);
    return { sessionId, owner, repo: config.repo.path, policy: config.policy };
  }

  /** The events that have answered the command so far. */
  async command(sessionId: string, body: unknown, principal: string): Promise<SessionEvent[]> {
    const outcome = validate("Command", body);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    const command = outcome.value;
    if (command.correlation.sessionId !== sessionId) {
      const message = `/correlation/sessionId: must be ${sessionId}, the session it is sent to`;
      throw new AntiphonError("ANT_CONTRACT_INVALID", message, { data: { path: "/correlation/sessionId" } });
    }
    const first = await this.#log(sessionId);
    if (!isDecided(first.entries, command.commandId)) {
      const decision = new CommandDecision(this.#parts, command, principal);
      for (;;) {
        const { config, entries } = await this.#log(sessionId);
        if (isDecided(entries, command.commandId)) break; // gateway/G6
        if (await this.#decide(entries, command, principal, await decision.verdict(config, entries))) break; // gateway/G6
      }
    }
    const entries = await this.#carryOn(sessionId);
    return eventsFor(entries, 0, null).filter((event) => event.correlation.commandId === command.commandId);
  }

  async events(sessionId: string, after: number, agent: string | null): Promise<SessionEvent[]> {
    return eventsFor(await this.#carryOn(sessionId), after, agent);
  }

  /** False: the log has grown meanwhile, so the command must be judged again. */
  async #decide(
    entries: readonly SessionEntry[],
    command: Command,
    principal: string,
    verdict: PolicyVerdict,
  ): Promise<boolean> {
    const { commandId } = command;
    const { sessionId } = command.correlation;
    const about = { ...command.correlation, commandId };
    if (verdict.kind === "allowed")
      return this.#say(
        sessionId,
        entries,
        about,
        { event: "CommandAccepted", payload: { commandId } },
        { command, principal },
      );
    let log = entries;
    if (verdict.kind === "throttled") {
      const retryAfter = new Date(verdict.retryAt).toISOString();
      const payload = { scope: verdict.policyRule, retryAfter };
      if (!(await this.#say(sessionId, log, about, { event: "Throttled", payload }))) return false;
      log = (await this.#log(sessionId)).entries;
    }
    const { reason, policyRule } = verdict;
    const payload = { commandId, reason, policyRule };
    return this.#say(sessionId, log, about, { event: "CommandRejected", payload });
  }

  /** Dispatches accepted commands and completes those whose run has ended. Every step may safely be repeated. */
  async #carryOn(sessionId: string): Promise<readonly SessionEntry[]> {
    const { config, entries: known } = await this.#log(sessionId);
    let entries = known;
    for (const pending of pendingCommands(entries)) {
      const { command } = pending;
      const about = { ...command.correlation, commandId: command.commandId };
      for (const one of await this.#outcome(config, pending)) {
        // Another gateway may take the register first, so the log is read again until it contains this event.
        while (!isTold(entries, command.commandId, one.event)) {
          await this.#say(sessionId, entries, about, one);
          entries = (await this.#log(sessionId)).entries;
        }
      }
    }
    return entries;
  }

  /** The result events of an accepted command; empty: it is still running. */
  async #outcome(config: SessionConfig, { command, principal }: PendingCommand): Promise<Outcome[]> {
    const { commandId } = command;
    const completed = (outcome: "Success" | "Failure", message: string, errorCode?: string): Outcome => ({
      event: "CommandCompleted",
      payload: { commandId, outcome, message, ...(errorCode === undefined ? {} : { errorCode }) },
    });
    const plan = planCommand(command, config.repo);
    if (plan.kind === "unavailable") return [completed("Failure", plan.message, "ANT_ADAPTER_UNAVAILABLE")];
    try {
      const { sessionId, repo, policy } = config;
      const owner = principal ?? speakerOf(config);
      const session = { sessionId, owner, repo: repo.path, policy };
      const caller = { principal: owner, session, accepted: true };
      const { intentId } = await this.#parts.intake.create(plan.intent, caller);
      const { runId } = await this.#parts.intake.run(intentId, {
        ...caller,
        key: commandId,
        body: undefined,
      });
      const { closed } = factsOf(await this.#parts.backend.read(runId));
      if (closed === null) return [];
      const { status, code, message } = closed;
      const downloadUri = `/runs/${runId}/evidence`;
      const artifact: Outcome = {
        event: "ArtifactAvailable",
        payload: { commandId, kind: plan.artifact, downloadUri },
      };
      return status === "succeeded"
        ? [artifact, completed("Success", message)]
        : [artifact, completed("Failure", message, code ?? undefined)];
    } catch (error) {
      if (!(error instanceof AntiphonError) || error.disposition === "retry") throw error;
      return [completed("Failure", error.detail, error.code)];
    }
  }

  async #log(sessionId: string): Promise<SessionLog> {
    const log = await this.#parts.store.read(sessionId);
    if (log === null) throw new AntiphonError("ANT_SESSION_NOT_FOUND", `there is no session ${sessionId}`);
    return log;
  }

  #say(
    sessionId: string,
    entries: readonly SessionEntry[],
    correlation: Correlation,
    { event, payload }: Said,
    about: { command: Command; principal: string } | { command: null } = { command: null },
  ): Promise<boolean> {
    const sequence = entries.length + 1;
    if (sequence > limits.sessionEvents) {
      const message = `the session has ${limits.sessionEvents} events, which is the limit; open another session`;
      throw new AntiphonError("ANT_CONTRACT_LIMIT", message, { data: { limit: limits.sessionEvents } });
    }
    const at = new Date(this.#parts.now()).toISOString();
    const told = {
      sequence,
      eventId: `${sessionId}-${sequence}`,
      at,
      correlation,
      event,
      payload,
    } as SessionEvent;
    return this.#parts.store.write(sessionId, sequence, { v: 1, event: told, ...about });
  }
}

/** gateway/G6: only a profile of the deployment; hasOwn excludes names such as `__proto__`. */
function namedProfile({ profiles }: PolicyConfig, name: string): PolicyProfile {
  const policy = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (policy !== undefined) return policy;
  const known = Object.keys(profiles).join(", ");
  throw new AntiphonError(
    "ANT_POLICY_UNKNOWN",
    `there is no profile ${JSON.stringify(name)}; known: ${known}`,
  );
}
