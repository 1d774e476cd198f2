/** One call of the engine: it has a deadline, and its failure a code. A late answer is ignored. */
import { AntiphonError } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";
import { engineFull, saysNoSpace } from "../../workspace/no-space.ts";

const CALL_DEADLINE_MS = 30_000;

/** A container that is gone, or about to be, already is as requested. */
export async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const status = statusOf(error);
    if (status !== 404 && status !== 409) throw error;
  }
}

export function statusOf(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("statusCode" in error)) return null;
  return typeof error.statusCode === "number" ? error.statusCode : null;
}

export async function call<T>(what: string, work: Promise<T>, deadlineMs = CALL_DEADLINE_MS): Promise<T> {
  try {
    return await withDeadline(deadlineMs, work, () => {
      throw unreachable(what, `no answer within ${deadlineMs} ms`);
    });
  } catch (error) {
    if (error instanceof AntiphonError) throw error;
    if (error instanceof Error && saysNoSpace(error.message)) throw engineFull(`for docker ${what}`);
    if (statusOf(error) !== null) throw error;
    throw unreachable(what, error instanceof Error ? error.message : String(error));
  }
}

function unreachable(what: string, why: string): AntiphonError {
  return new AntiphonError("ANT_DOCKER_UNREACHABLE", `docker ${what}: ${why}`);
}
