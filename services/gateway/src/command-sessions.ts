// Sessions of Contracts v1.3: commands in, events out, a policy between them.
//
// Lifecycle of a command: judged -> rejected, or accepted -> carried out -> completed. Each step is an entry of the
// session's log, a row of registers that are written once; so any gateway may take the next step, at any time.
//
// Invariants:
//   V1 No command is dispatched that the session's policy has not allowed first; a refusal is CommandRejected with
//      the rule's name.
//   V2 A command id is decided once: sent again, it gets the same answer.
//   V3 What was accepted and not completed is carried on by whoever looks at the session next.
//   V4 The policy is the deployment's: a caller chooses among its profiles and cannot bring one.
//   V5 What an accepted command came to is said once and in its order, whoever writes to the session meanwhile: the
//      next of it only when the one before stands.
import { AntiphonError, limits, validate } from "@antiphon/contracts";
import type {
  Command,
  Correlation,
  PolicyConfig,
  SessionConfig,
  SessionEntry,
  SessionEvent,
  StoredRecord,
} from "@antiphon/contracts";
import { planCommand } from "./core/command-plan.ts";
import { judgeCommand } from "./core/command-policy.ts";
import type { PolicyVerdict } from "./core/command-policy.ts";
import { malformed } from "./core/malformed.ts";
import { eventsFor, isDecided, isTold, pastCommands, pendingCommands } from "./core/session-log.ts";
import type { IntentIntake } from "./intent-intake.ts";

export interface SessionLog {
  readonly config: SessionConfig;
  readonly entries: readonly SessionEntry[];
}

/** One row of write-once registers a session; register 0 is its configuration. */
export interface SessionStore {
  /** False: that register is taken. */
  write(sessionId: string, register: number, document: SessionConfig | SessionEntry): Promise<boolean>;
  read(sessionId: string): Promise<SessionLog | null>;
  policies(): Promise<PolicyConfig>;
}

interface Parts {
  readonly store: SessionStore;
  readonly intake: IntentIntake;
  /** Empty: there is no such run. */
  records(runId: string): Promise<StoredRecord[]>;
  now(): number;
}

/** An event without its place and time. */
type Said = Pick<SessionEvent, "event" | "payload">;
/** What an accepted command comes to. */
type Outcome = Said & { event: "ArtifactAvailable" | "CommandCompleted" };

export class CommandSessions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws AntiphonError ANT_POLICY_UNKNOWN when the deployment has no profile of that name */
  async open(sessionId: string, body: unknown): Promise<SessionConfig> {
    const outcome = validate("SessionRequest", body);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    const { policy: name, repo, workspace, workItem, agentProfile = "default" } = outcome.value;
    const { profiles, defaultProfile } = await this.#parts.store.policies();
    const wanted = name ?? defaultProfile;
    const policy = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined; // V4: `__proto__` is no profile
    if (policy === undefined) {
      const known = Object.keys(profiles).join(", ");
      throw new AntiphonError(
        "ANT_POLICY_UNKNOWN",
        `there is no profile ${JSON.stringify(wanted)}; known: ${known}`,
      );
    }
    const place = workspace ?? { path: repo.path };
    const ticket = workItem === undefined ? {} : { workItem };
    const config: SessionConfig = { sessionId, policy, repo, workspace: place, ...ticket, agentProfile };
    await this.#parts.store.write(sessionId, 0, config);
    await this.#say(
      sessionId,
      [],
      { sessionId },
      { event: "SessionStatusChanged", payload: { sessionId, status: "open" } },
    );
    return config;
  }

  /** What the command was answered with so far. */
  async command(sessionId: string, body: unknown): Promise<SessionEvent[]> {
    const outcome = validate("Command", body);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    const command = outcome.value;
    if (command.correlation.sessionId !== sessionId) {
      const message = `/correlation/sessionId: must be ${sessionId}, the session it is sent to`;
      throw new AntiphonError("ANT_CONTRACT_INVALID", message, { data: { path: "/correlation/sessionId" } });
    }
    for (;;) {
      const { config, entries } = await this.#log(sessionId);
      if (isDecided(entries, command.commandId)) break; // V2
      const { globalLimits } = await this.#parts.store.policies();
      const now = this.#parts.now();
      const input = { profile: config.policy, globalLimits, past: pastCommands(entries), now };
      if (await this.#decide(entries, command, judgeCommand(command, input))) break; // V1
    }
    const entries = await this.#carryOn(sessionId);
    return eventsFor(entries, 0, null).filter((event) => event.correlation.commandId === command.commandId);
  }

  async events(sessionId: string, after: number, agent: string | null): Promise<SessionEvent[]> {
    return eventsFor(await this.#carryOn(sessionId), after, agent);
  }

  /** False: the log has grown meanwhile, and the decision has to be taken again. */
  async #decide(
    entries: readonly SessionEntry[],
    command: Command,
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
        command,
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

  /** V3: dispatches what is accepted, and completes what has come to its end. Everything in it may be done twice. */
  async #carryOn(sessionId: string): Promise<readonly SessionEntry[]> {
    let { entries } = await this.#log(sessionId);
    for (const command of pendingCommands(entries)) {
      const about = { ...command.correlation, commandId: command.commandId };
      for (const one of await this.#outcome(command)) {
        // V5: a register that another entry has taken says nothing about this one; what it holds now, does.
        while (!isTold(entries, command.commandId, one.event)) {
          await this.#say(sessionId, entries, about, one);
          entries = (await this.#log(sessionId)).entries;
        }
      }
    }
    return entries;
  }

  /** What there is to say about an accepted command; empty: it is under way. */
  async #outcome(command: Command): Promise<Outcome[]> {
    const { commandId } = command;
    const completed = (outcome: "Success" | "Failure", message: string, errorCode?: string): Outcome => ({
      event: "CommandCompleted",
      payload: { commandId, outcome, message, ...(errorCode === undefined ? {} : { errorCode }) },
    });
    const plan = planCommand(command);
    if (plan.kind === "unavailable") return [completed("Failure", plan.message, "ANT_ADAPTER_UNAVAILABLE")];
    try {
      const principal = `session:${command.correlation.sessionId}`;
      const { intentId } = await this.#parts.intake.create(plan.intent, principal);
      const { runId } = await this.#parts.intake.run(intentId, {
        key: commandId,
        principal,
        body: undefined,
      });
      const closed = (await this.#parts.records(runId)).find((record) => record.type === "closed");
      if (closed?.type !== "closed") return [];
      const { status, code, message } = closed.body;
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
    command: Command | null = null,
  ): Promise<boolean> {
    const sequence = entries.length + 1;
    if (sequence > limits.sessionEvents) {
      const message = `the session holds ${limits.sessionEvents} events, which is its bound; open another one`;
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
    return this.#parts.store.write(sessionId, sequence, { v: 1, event: told, command });
  }
}
