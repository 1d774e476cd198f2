// The list of sessions, for people.
import { AntiphonError } from "@antiphon/contracts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { OpenedSession, SessionIndex } from "./session-index.ts";
import type { SessionRegister } from "./session-register.ts";
import { sessionView } from "./session-view.ts";

/** One line of the list of sessions. */
export interface SessionLine {
  readonly sessionId: string;
  readonly repo: string;
  readonly openedAt: string;
  readonly status: string;
  readonly commands: number;
  /** Requests for approval that wait for a person. */
  readonly waiting: number;
}

interface Parts {
  readonly register: SessionRegister;
  readonly index: SessionIndex;
  readonly approvals: SessionApprovals;
}

/** Sessions that are read at the same time. */
const READ_AT_ONCE = 16;

export async function sessionLines(
  parts: Parts,
  limit: number,
  below: number,
): Promise<{ sessions: SessionLine[]; next: number | null }> {
  const { sessions, more } = await parts.index.page(limit, below);
  const lines: SessionLine[] = [];
  for (let at = 0; at < sessions.length; at += READ_AT_ONCE) {
    const some = await Promise.all(sessions.slice(at, at + READ_AT_ONCE).map((one) => lineOf(parts, one)));
    lines.push(...some.filter((line) => line !== null));
  }
  return { sessions: lines, next: more ? (sessions.at(-1)?.seq ?? null) : null };
}

/** Null: the session was dropped meanwhile. */
async function lineOf(parts: Parts, { sessionId, at }: OpenedSession): Promise<SessionLine | null> {
  try {
    const { config, entries } = await parts.register.read(sessionId);
    const { status, commands } = sessionView(entries.map(({ event }) => event));
    const { length: waiting } = await parts.approvals.open(sessionId);
    const openedAt = at.toISOString();
    return { sessionId, repo: config.repo.path, openedAt, status, commands: commands.length, waiting };
  } catch (error) {
    if (AntiphonError.from(error).code !== "ANT_SESSION_NOT_FOUND") throw error;
    return null;
  }
}
