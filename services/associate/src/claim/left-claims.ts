/**
 * Ends the claims of Associates on this machine that were killed, so that their attempts are made again at once and not only
 * after the ack wait.
 *
 * Lifecycle: read once, when an Associate starts. A file is removed when all its claims are ended; a file whose process may be
 * alive is left alone, and one that nothing can be said about is removed after a day.
 *
 * Because a claim is ended early only if the kernel says that its holder's process is gone, no attempt is taken from an
 * Associate that may still work on it (associate/A8).
 */
import { readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { ownerState, type Journal, type Logger } from "@antiphon/runtime";
import type { ClaimedAttempt, ClaimsOwner } from "./claim-notes.ts";
import { isOver } from "./run-watch.ts";

export interface LeftClaims {
  readonly path: string;
  readonly holder: ClaimsOwner;
  readonly attempts: readonly ClaimedAttempt[];
}

const UNKNOWN_KEPT_MS = 24 * 3_600_000;

export async function endLeftClaims(
  directory: string,
  { journal, associate, log }: { journal: Journal; associate: string; log: Logger },
): Promise<void> {
  for (const { path, holder, attempts } of claimsLeftIn(directory)) {
    for (const attempt of attempts) {
      if (await endClaim(journal, holder, attempt, associate))
        log.info(
          { run: attempt.runId, task: attempt.taskId, holder: holder.associate },
          "its Associate was killed",
        );
    }
    rmSync(path, { force: true });
  }
}

/** False: the attempt is over already, or is not that process's. */
async function endClaim(
  journal: Journal,
  holder: ClaimsOwner,
  { runId, taskId, epoch }: ClaimedAttempt,
  observer: string,
): Promise<boolean> {
  const claim = await journal.find("claim", runId, taskId, epoch);
  if (claim?.type !== "claim" || claim.body.incarnation !== holder.incarnation) return false;
  const [over, result] = await Promise.all([
    isOver(journal, runId),
    journal.find("result", runId, taskId, epoch),
  ]);
  if (over || result !== null) return false;
  const cause = { seq: claim.seq, digest: claim.digest };
  const body = { kind: "lapsed" as const, observer, holder: holder.associate };
  const done = await journal.append({ type: "result", runId, taskId, epoch, cause, body });
  return done.kind === "appended";
}

/** The files of processes that are gone. */
export function claimsLeftIn(directory: string): LeftClaims[] {
  return filesIn(directory).flatMap((path) => {
    const left = readClaims(path);
    const state = left === null ? "unknown" : ownerState(left.holder.owner); // associate/A8
    if (left !== null && state === "gone") return [left];
    if (state === "unknown" && ageOf(path) > UNKNOWN_KEPT_MS) rmSync(path, { force: true });
    return [];
  });
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith(".claims"))
      .map((name) => join(directory, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Null: it cannot be read. The process may have been killed, or the machine may have stopped, while it was written. */
function readClaims(path: string): LeftClaims | null {
  try {
    const [first = "", ...lines] = readFileSync(path, "utf8").split("\n");
    const holder = JSON.parse(first) as ClaimsOwner;
    const open = new Map<string, ClaimedAttempt>();
    // The last piece is empty, or a line that was not written to its end.
    for (const line of lines.slice(0, -1)) {
      const text = line.slice(1);
      const [runId, taskId, epoch] = JSON.parse(text) as [string, string, number];
      if (line.startsWith("+")) open.set(text, { runId, taskId, epoch });
      else open.delete(text);
    }
    return { path, holder, attempts: [...open.values()] };
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw AntiphonError.from(error);
  }
}

/** A file that is gone is as old as can be. */
function ageOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? Infinity : Date.now() - found.mtimeMs;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
