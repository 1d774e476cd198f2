// Requests for approval in sessions (`RequestApproval`): which are open, and what one decision makes of the log.
//
// A request waits without holding up the session's other commands, through any restart, until a person decides. It is bound
// to what the session had made and to the policy of its repository when it was told: a command that changes the work, or an
// operator who changes that policy, makes the request stale, and it cannot be approved any more. People cannot approve their own work, so an approval of a person who sent a command to the session does
// not count.
//
// Because a push may rest on an approval, an approval counts only for the workspace and the policy that the person looked
// at, from a person who sent no command to the session, and is written once (run/R10).
import { AntiphonError, ownerOf, validate } from "@antiphon/contracts";
import type { Command, SessionConfig, SessionDecision, SessionEntry } from "@antiphon/contracts";
import { malformed } from "../http/malformed.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import { openRequests, type OpenRequest, type Waiting } from "./approval-request.ts";
import { completed, type Said } from "./said.ts";
import type { SessionRegister } from "./session-register.ts";

export class SessionApprovals {
  readonly #register: SessionRegister;
  readonly #guard: Pick<PolicyGuard, "policies">;

  constructor(register: SessionRegister, guard: Pick<PolicyGuard, "policies">) {
    this.#register = register;
    this.#guard = guard;
  }

  /** @throws AntiphonError ANT_SESSION_NOT_FOUND */
  async open(sessionId: string): Promise<OpenRequest[]> {
    const { config, entries } = await this.#register.read(sessionId);
    const open = await this.#requests(config, entries);
    return open.map(({ command: _, policyChange: __, ...request }) => request);
  }

  /** @throws AntiphonError ANT_SESSION_NOT_WAITING, ANT_APPROVAL_STALE, ANT_APPROVAL_OWN */
  async decide(sessionId: string, body: unknown, by: string): Promise<void> {
    const outcome = validate("SessionDecision", body);
    if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
    for (;;) {
      const { config, entries } = await this.#register.read(sessionId);
      const open = await this.#requests(config, entries);
      const { command } = decided(open, entries, outcome.value, by);
      const about = { ...command.correlation, commandId: command.commandId };
      const said = ending(command, outcome.value, by);
      if (!(await this.#register.say(sessionId, entries, about, said))) continue; // run/R10: the log has grown
      if (open.length === 1) await this.#reopen(sessionId);
      return;
    }
  }

  async #requests(config: SessionConfig, entries: readonly SessionEntry[]): Promise<Waiting[]> {
    return openRequests(config, entries, await this.#guard.policies());
  }

  /** The status only tells people; the next request about the session shows the same without it. */
  async #reopen(sessionId: string): Promise<void> {
    const { config, entries } = await this.#register.read(sessionId);
    if ((await this.#requests(config, entries)).length > 0) return;
    const payload = { sessionId, status: "open" };
    await this.#register.say(sessionId, entries, { sessionId }, { event: "SessionStatusChanged", payload });
  }
}

/** run/R10 */
function decided(
  open: readonly Waiting[],
  entries: readonly SessionEntry[],
  { commandId, choice, digest }: SessionDecision,
  by: string,
): Waiting {
  const request = open.find((one) => one.commandId === commandId);
  if (request === undefined)
    throw new AntiphonError("ANT_SESSION_NOT_WAITING", `no request ${commandId} is open`);
  if (choice === "reject") return request;
  if (request.stale || digest !== request.digest) {
    const changed = request.policyChange ?? "the session has changed its work since";
    const why = request.stale ? changed : `${request.digest} is waiting`;
    throw new AntiphonError("ANT_APPROVAL_STALE", `${commandId}: ${why}`, {
      data: { waiting: request.digest },
    });
  }
  const senders = entries.flatMap(({ principal }) => (principal === undefined ? [] : [principal]));
  const own = ownerOf(by, senders);
  if (own === undefined) return request;
  const why = by === own ? `${by} sent commands to the session` : `"${by}" is not a single person`;
  throw new AntiphonError("ANT_APPROVAL_OWN", `${why}, so the approval does not count`, { data: { by } });
}

function ending(command: Command, { choice, reason = "" }: SessionDecision, by: string): Said {
  const why = reason.trim() === "" ? "" : `: ${reason.trim()}`;
  return choice === "approve"
    ? completed(command, "Success", `approved by ${by}${why}`)
    : completed(command, "Failure", `rejected by ${by}${why}`, "ANT_SESSION_REJECTED");
}
