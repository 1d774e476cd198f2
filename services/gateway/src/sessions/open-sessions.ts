// Connects the parts of command sessions.
import type { AntiphonError } from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";
import { CommandClaims } from "./command-claim.ts";
import type { SessionAdapters } from "./adapter-settings.ts";
import { CommandExecutor } from "./command-executor.ts";
import { CommandSessions } from "./command-sessions.ts";
import { SessionApprovals } from "./session-approvals.ts";
import { SessionIndex } from "./session-index.ts";
import { SessionRegister, type SessionStore } from "./session-register.ts";
import { SessionWork } from "./session-work.ts";

export interface SessionParts {
  readonly store: SessionStore;
  readonly guard: PolicyGuard;
  readonly backend: Pick<Backend, "deed" | "images" | "inspect">;
  readonly inspect: Backend["inspect"];
  readonly adapters: SessionAdapters;
  now(): number;
  onFault(error: AntiphonError, sessionId: string): void;
}

export function openSessions(parts: SessionParts): CommandSessions {
  const { store } = parts;
  const now = (): number => parts.now();
  const register = new SessionRegister(store, now);
  const claims = new CommandClaims(store, `gateway_${uniqueId()}`, now);
  const executor = new CommandExecutor(parts);
  const onFault: SessionParts["onFault"] = (error, sessionId) => parts.onFault(error, sessionId);
  const work = new SessionWork({ register, claims, executor, onFault });
  const index = new SessionIndex((from) => store.opened(from), now);
  const approvals = new SessionApprovals(register, parts.guard);
  return new CommandSessions({ ...parts, now, register, work, index, approvals });
}
