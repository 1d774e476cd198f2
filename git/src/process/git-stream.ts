/**
 * Runs git with an input and an output of any length, in bounded memory: git waits while nobody reads its output, and the
 * input is asked for more only when git has taken what there is. Failures are those of git-process.ts.
 *
 * The process is started from here and not through the launcher, whose 3 ms do not count beside what is streamed.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import {
  exitCodeOf,
  gitFailure,
  Heard,
  MAX_STDERR_BYTES,
  notStarted,
  orderOf,
  type GitCall,
} from "./git-process.ts";
import { runStreamed, type ProcessEnd } from "./process-run.ts";

export interface GitStreamCall extends Omit<GitCall, "stdin" | "maxOutputBytes" | "signal"> {
  /** An error that it throws ends git and is rethrown. */
  readonly input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** The output of git. A reader that stops early ends git. Default deadline: limits.treeTransferMs. */
export async function* gitStream(call: GitStreamCall): AsyncGenerator<Buffer> {
  const deadlineMs = call.deadlineMs ?? limits.treeTransferMs;
  const verb = call.args[0] ?? "";
  const errors = new Heard(MAX_STDERR_BYTES);
  const run = runStreamed({
    ...orderOf(call),
    input: call.input,
    onError: (piece) => errors.add(piece),
  });
  const settled = run.ended.then(
    (end) => ({ end }),
    (thrown: unknown) => ({ thrown }),
  );
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    run.kill();
  }, deadlineMs);
  try {
    yield* run.output;
    const result = await settled;
    if (isLate) throw new AntiphonError("ANT_GIT_TIMEOUT", `git ${verb} took longer than ${deadlineMs} ms`);
    if ("thrown" in result) throw startFailure(result.thrown);
    await requireSuccess(call, result.end, errors);
  } finally {
    clearTimeout(timer);
    run.kill();
    await settled;
  }
}

/** Runs git for its effect. */
export async function gitFed(call: GitStreamCall): Promise<void> {
  for await (const piece of gitStream(call)) void piece;
}

async function requireSuccess(call: GitStreamCall, end: ProcessEnd, errors: Heard): Promise<void> {
  const stderr = errors.text().toString("utf8").slice(0, MAX_STDERR_BYTES);
  const exitCode = await exitCodeOf(call, end, stderr);
  if (exitCode !== 0) throw gitFailure(call, { exitCode, stderr });
}

function startFailure(thrown: unknown): unknown {
  const isOfProcess =
    thrown instanceof Error && "syscall" in thrown && String(thrown.syscall).startsWith("spawn");
  return isOfProcess ? notStarted(thrown as NodeJS.ErrnoException) : thrown;
}
