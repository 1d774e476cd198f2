/**
 * A process that takes the lock of `antiphon dev` when its parent asks, keeps it until the parent asks for its release,
 * and says how each attempt ended.
 */
import { takeLock } from "../../cli/src/dev/state-lock.ts";

export type LockRequest = { do: "take"; path: string } | { do: "release" };
/** `by`: the process that the lock names, when another one has it. */
export type LockAnswer = { kind: "ready" | "held" | "released" } | { kind: "taken"; by: number | null };

let release: (() => void) | null = null;

async function answer(request: LockRequest): Promise<LockAnswer> {
  if (request.do === "release") {
    release?.();
    release = null;
    return { kind: "released" };
  }
  const outcome = await takeLock(request.path);
  if (outcome.kind === "taken") return { kind: "taken", by: outcome.by?.pid ?? null };
  release = outcome.release;
  return { kind: "held" };
}

process.on("message", (request: LockRequest) => {
  void answer(request).then((said) => process.send?.(said));
});
process.on("disconnect", () => process.exit());
process.send?.({ kind: "ready" } satisfies LockAnswer);
