// Sessions of Contracts v1.3: they take commands, apply the policy and answer with events.
//
// Lifecycle of a command: judged -> rejected, or accepted -> carried out -> completed. Each step is an entry of the
// session's log, a row of registers that are written once, so any gateway can take the next step (session-work.ts). The next request
// about a session continues its accepted commands. A session is bound to the repository it was opened with, by location:
// a command about another repository is rejected, without revealing whether that one exists.
//
// Promises:
//   gateway/G6 Because a command is dispatched only after the deployment's policy has allowed it, and its decision is
//     written once, a session cannot bring a policy of its own, and a command id that is sent again gets the same answer.
import { AntiphonError, limits, validate } from "@antiphon/contracts";
import type { BlobRef, SessionConfig, SessionEvent } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";
import { CommandDecision } from "./command-decision.ts";
import { malformed } from "../http/malformed.ts";
import { sessionConfig } from "./session-config.ts";
import { sessionLines, type SessionLine } from "./session-lines.ts";
import { eventsFor, isDecided, requireSame } from "./session-log.ts";
import { firstPlan } from "./session-plan.ts";
import type { OpenRequest } from "./approval-request.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionIndex } from "./session-index.ts";
import { sessionView, type SessionView } from "./session-view.ts";
import type { SessionRegister, SessionStore } from "./session-register.ts";
import type { SessionWork } from "./session-work.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";
import type { SessionBinding } from "./session-binding.ts";

interface Parts {
  readonly store: Pick<SessionStore, "write" | "follow">;
  readonly register: SessionRegister;
  readonly work: SessionWork;
  readonly index: SessionIndex;
  readonly approvals: SessionApprovals;
  readonly guard: PolicyGuard;
  readonly backend: Pick<Backend, "inspect">;
  now(): number;
}

export class CommandSessions {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @throws AntiphonError ANT_POLICY_UNKNOWN if the deployment has no profile of that name; ANT_REPO_* */
  async open(sessionId: string, body: unknown, principal: string): Promise<SessionConfig> {
    const { store, register } = this.#parts;
    const config = await sessionConfig(this.#parts, { sessionId, body, principal });
    await store.write(sessionId, 0, config);
    const opened = { event: "SessionStatusChanged", payload: { sessionId, status: "open" } } as const;
    await register.say(sessionId, [], { sessionId }, opened);
    const plan = firstPlan(config);
    if (plan === null) return config;
    const { entries } = await register.read(sessionId);
    const planned = { event: "PlanUpdated", payload: { sessionId, plan } } as const;
    await register.say(sessionId, entries, { sessionId }, planned);
    return config;
  }

  /** The repository and policy the session is bound to. @throws AntiphonError ANT_SESSION_NOT_FOUND */
  async binding(sessionId: string, owner: string): Promise<SessionBinding> {
    const { config } = await this.#parts.register.read(sessionId);
    return { sessionId, owner, repo: config.repo.path, policy: config.policy };
  }

  /** The events that have answered the command so far. @throws AntiphonError ANT_SESSION_COMMAND_ID, ANT_CONTRACT_INVALID */
  async command(sessionId: string, body: unknown, principal: string): Promise<SessionEvent[]> {
    const outcome = validate("Command", body);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    const command = outcome.value;
    if (command.correlation.sessionId !== sessionId) {
      const message = `/correlation/sessionId: must be ${sessionId}, the session it is sent to`;
      throw new AntiphonError("ANT_CONTRACT_INVALID", message, { data: { path: "/correlation/sessionId" } });
    }
    const first = await this.#parts.register.read(sessionId);
    requireSame(first.entries, command);
    if (!isDecided(first.entries, command.commandId)) {
      const decision = new CommandDecision(this.#parts, command, principal);
      for (;;) {
        const log = await this.#parts.register.read(sessionId);
        if (isDecided(log.entries, command.commandId) || (await decision.write(log))) break; // gateway/G6
      }
    }
    await withDeadline(limits.sessionAnswerMs, this.#parts.work.start(sessionId), () => undefined); // The work goes on.
    const { entries } = await this.#parts.register.read(sessionId);
    requireSame(entries, command); // Two may have come at once.
    return eventsFor(entries, 0, null).filter((event) => event.correlation.commandId === command.commandId);
  }

  async events(sessionId: string, after: number, agent: string | null): Promise<SessionEvent[]> {
    const { entries } = await this.#parts.register.read(sessionId);
    void this.#parts.work.start(sessionId);
    return eventsFor(entries, after, agent);
  }

  /** What the events tell, and the session's configuration. */
  async view(sessionId: string): Promise<SessionView & { config: SessionConfig }> {
    const { config, entries } = await this.#parts.register.read(sessionId);
    return { config, ...sessionView(entries.map(({ event }) => event)) };
  }

  /**
   * All events after one, as they happen: each once and in order. Another gateway may have died with a command, so its
   * commands are looked for as long as somebody watches.
   * @throws AntiphonError ANT_SESSION_NOT_FOUND; ANT_CONTRACT_INVALID if the session has not come so far
   */
  async follow(
    sessionId: string,
    after: number,
    agent: string | null,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<SessionEvent>> {
    const { store, work, register } = this.#parts;
    const { entries } = await register.read(sessionId);
    if (after > entries.length) {
      const detail = `Last-Event-ID: the session has ${entries.length} events, and no ${after}`;
      throw new AntiphonError("ANT_CONTRACT_INVALID", detail, { data: { path: "Last-Event-ID" } });
    }
    return async function* (signal) {
      void work.start(sessionId);
      const looking = setInterval(() => void work.start(sessionId), limits.sessionClaimMs);
      try {
        for await (const entry of store.follow(sessionId, after + 1, signal))
          yield* eventsFor([entry], after, agent);
      } finally {
        clearInterval(looking);
      }
    };
  }

  /** The stored bytes of one of the session's artifacts. @throws AntiphonError ANT_BLOB_MISSING */
  async artifact(sessionId: string, name: string): Promise<BlobRef> {
    const { entries } = await this.#parts.register.read(sessionId);
    const found = entries.find(({ artifact }) => artifact?.name === name)?.artifact;
    if (found !== undefined) return found;
    throw new AntiphonError("ANT_BLOB_MISSING", `the session has no artifact ${name.slice(0, 80)}`);
  }

  /** The sessions opened before the one at `below`, the newest first; `next`: where the following page begins. */
  list(limit: number, below: number): Promise<{ sessions: SessionLine[]; next: number | null }> {
    return sessionLines(this.#parts, limit, below);
  }

  /** Requests for approval that wait for a person. */
  approvals(sessionId: string): Promise<OpenRequest[]> {
    void this.#parts.work.start(sessionId);
    return this.#parts.approvals.open(sessionId);
  }

  /** Decides one of them, and returns the session as it is then. */
  async decide(sessionId: string, body: unknown, principal: string): Promise<SessionView> {
    await this.#parts.approvals.decide(sessionId, body, principal);
    return this.view(sessionId);
  }

  drain(): Promise<void> {
    return this.#parts.work.drain();
  }
}
