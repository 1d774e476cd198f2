/**
 * The only module that starts `git`, with git-stream.ts for inputs and outputs of any length: an argv array, a hermetic environment (git-environment.ts), bounded output, a
 * deadline, and a typed failure. A start costs about 2 ms through the launcher and more without (launcher.ts), so callers count
 * their calls.
 *
 * Failures: ANT_GIT_MISSING (no program), ANT_GIT_TIMEOUT (deadline or abort), ANT_GIT_INTERRUPTED (git/G2),
 * ANT_GIT_OUTPUT_LIMIT, and from `git()` also ANT_GIT_FAILED (a non-zero exit).
 *
 * Promises:
 *   git/G2 Because a fault of the machine says nothing about the repository, a git process that was killed, could not be
 *     started for lack of resources, or ran out of disk or memory is ANT_GIT_INTERRUPTED, which is retried, and no
 *     caller sees its exit code.
 */
import { AntiphonError } from "@antiphon/contracts";
import { gitDirectoryState } from "../disk/git-directory.ts";
import { gitEnvironment, type GitSettings } from "./git-environment.ts";
import { runProcess } from "./launcher.ts";
import type { ProcessEnd, ProcessOrder, ProcessRun } from "./process-run.ts";

export interface GitCall {
  args: readonly string[];
  /** GIT_DIR. Without it git searches for a repository from `cwd` upwards. */
  gitDir?: string;
  workTree?: string;
  indexFile?: string;
  /** GIT_OBJECT_DIRECTORY: where new objects are written. */
  objectsDir?: string;
  cwd?: string;
  /** Variables that let this call reach another machine. Only remote/transport.ts sets them. */
  transport?: Readonly<Record<string, string>>;
  stdin?: Buffer | string;
  settings?: GitSettings;
  /** Default 256 MiB; one more byte kills the process. */
  maxOutputBytes?: number;
  /** Default 60 s. */
  deadlineMs?: number;
  signal?: AbortSignal;
}

export interface GitResult {
  exitCode: number;
  stdout: Buffer;
  stderr: string;
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
export const MAX_STDERR_BYTES = 64 * 1024;
const DEADLINE_MS = 60_000;

type Place = Omit<GitCall, "stdin">;

function variables(call: Place): Record<string, string> {
  const extra: Record<string, string> = { ...call.transport };
  if (call.gitDir !== undefined) extra["GIT_DIR"] = call.gitDir;
  if (call.workTree !== undefined) extra["GIT_WORK_TREE"] = call.workTree;
  if (call.indexFile !== undefined) extra["GIT_INDEX_FILE"] = call.indexFile;
  if (call.objectsDir !== undefined) extra["GIT_OBJECT_DIRECTORY"] = call.objectsDir;
  return extra;
}

/** With these codes a retry cannot help: there is no usable git program. */
const NO_PROGRAM: ReadonlySet<string | undefined> = new Set([
  ...["ENOENT", "EACCES", "EPERM", "ENOTDIR", "ELOOP", "ENOEXEC"],
]);

/**
 * Git's messages for a fault of the machine, in the C locale, at the end of a line. The last one comes without a reason:
 * git could not rename an index into place that it had written.
 */
const WANTING =
  /^(?:fatal|error|warning): (?:.*[:.] )?(?:No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system|Input\/output error|Stale file handle|Cannot allocate memory|Resource temporarily unavailable|Too many open files(?: in system)?|Out of memory, .*|Unable to write new index file)\.?$/m;
/** They only read, and call an object that the disk does not give "missing" and end with 0. */
const READERS: ReadonlySet<string> = new Set(["cat-file", "diff-tree", "ls-tree", "merge-base", "rev-list"]);
/** Git's words when it cannot read the repository that it was given. */
const NO_REPOSITORY = /^fatal: not a git repository: /m;

/** git/G2: git's line about a fault of the machine; null when there is none. */
export function machineFault(stderr: string): string | null {
  return WANTING.exec(stderr)?.[0] ?? null;
}

/** git/G2: a program that could not be started. */
export function notStarted(cause: NodeJS.ErrnoException): AntiphonError {
  const code = NO_PROGRAM.has(cause.code) ? "ANT_GIT_MISSING" : "ANT_GIT_INTERRUPTED"; // git/G2
  return new AntiphonError(code, `git could not be started: ${cause.message}`, { cause });
}

/** Runs git and returns the result with any exit code, except for faults of the machine (git/G2). */
export async function runGit(call: GitCall): Promise<GitResult> {
  const { stdout, stderr, end } = await heard(call);
  return { exitCode: await exitCodeOf(call, end, stderr), stdout, stderr };
}

/** The exit code of a process that ended by itself; a fault of the machine is thrown (git/G2). */
export async function exitCodeOf(call: Place, end: ProcessEnd, stderr: string): Promise<number> {
  const verb = call.args[0] ?? "";
  if (end.code === null) {
    const detail = `git ${verb} was ended by ${end.signal ?? "a signal"}: ${firstLine(stderr)}`;
    throw new AntiphonError("ANT_GIT_INTERRUPTED", detail); // git/G2
  }
  const wanting = end.code === 0 && !READERS.has(verb) ? null : machineFault(stderr);
  if (wanting !== null) {
    const data = { exitCode: end.code, stderr };
    throw new AntiphonError("ANT_GIT_INTERRUPTED", `git ${verb}: ${wanting}`, { data }); // git/G2
  }
  if (end.code !== 0 && NO_REPOSITORY.test(stderr)) await requireAbsent(call);
  return end.code;
}

/** Runs git to its end, within the bounds of the call. */
async function heard(call: GitCall): Promise<{ stdout: Buffer; stderr: string; end: ProcessEnd }> {
  const limit = call.maxOutputBytes ?? MAX_OUTPUT_BYTES;
  const deadlineMs = call.deadlineMs ?? DEADLINE_MS;
  const verb = call.args[0] ?? "";
  const [out, err] = [new Heard(limit), new Heard(MAX_STDERR_BYTES)];
  let failure: AntiphonError | null = null;
  const stop = (reason: AntiphonError): void => {
    failure ??= reason;
    run.kill();
  };
  const run = started(call, {
    onOutput: (piece) => {
      out.add(piece);
      if (out.bytes > limit)
        stop(new AntiphonError("ANT_GIT_OUTPUT_LIMIT", `git ${verb} wrote more than ${limit} bytes`));
    },
    onError: (piece) => err.add(piece),
  });
  const timer = setTimeout(() => {
    stop(new AntiphonError("ANT_GIT_TIMEOUT", `git ${verb} took longer than ${deadlineMs} ms`));
  }, deadlineMs);
  const onAbort = (): void => stop(new AntiphonError("ANT_GIT_TIMEOUT", `git ${verb} was aborted`));
  call.signal?.addEventListener("abort", onAbort, { once: true });
  if (call.signal?.aborted === true) onAbort();
  try {
    const end = await run.ended.catch((cause: NodeJS.ErrnoException) => {
      throw notStarted(cause);
    });
    if (failure !== null) throw failure as AntiphonError;
    const stderr = err.text().toString("utf8").slice(0, MAX_STDERR_BYTES);
    return { stdout: out.text(), stderr, end };
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener("abort", onAbort);
  }
}

/** @throws AntiphonError when the process could not be started and Node reports it at once */
function started(call: GitCall, hearing: Pick<ProcessOrder, "onOutput" | "onError">): ProcessRun {
  try {
    return runProcess({ ...orderOf(call), stdin: call.stdin ?? null, ...hearing });
  } catch (thrown) {
    // An error without a system call is about an invalid argument, which no program could be given.
    if (!(thrown instanceof Error) || !("syscall" in thrown)) throw thrown;
    throw notStarted(thrown as NodeJS.ErrnoException);
  }
}

/** What is started for a call. */
export function orderOf(call: Place): Pick<ProcessOrder, "file" | "args" | "cwd" | "env"> {
  const env = gitEnvironment(variables(call), call.settings ?? []);
  return { file: "git", args: call.args, cwd: call.cwd ?? call.gitDir ?? "/", env };
}

/** Pieces of an output, kept up to a bound. */
export class Heard {
  readonly #pieces: Buffer[] = [];
  readonly #most: number;
  bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    if (this.bytes < this.#most) this.#pieces.push(piece);
    this.bytes += piece.length;
  }

  text(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** git/G2: "not a git repository" counts only if the file system says so too. */
async function requireAbsent({ gitDir, args }: Place): Promise<void> {
  const state = gitDir === undefined ? null : await gitDirectoryState(gitDir);
  if (state === null || state.kind === "absent") return;
  const why = state.kind === "broken" ? state.cause.message : "the repository is there now";
  throw new AntiphonError("ANT_GIT_INTERRUPTED", `git ${args[0] ?? ""} did not find ${gitDir}: ${why}`);
}

/** Runs git and returns its stdout; a non-zero exit is ANT_GIT_FAILED. */
export async function git(call: GitCall): Promise<Buffer> {
  const result = await runGit(call);
  if (result.exitCode !== 0) throw gitFailure(call, result);
  return result.stdout;
}

export function gitFailure(call: Place, result: Omit<GitResult, "stdout">): AntiphonError {
  const detail = `git ${call.args[0] ?? ""} ended with ${result.exitCode}: ${firstLine(result.stderr)}`;
  return new AntiphonError("ANT_GIT_FAILED", detail, {
    data: { exitCode: result.exitCode, stderr: result.stderr },
  });
}

export function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim() ?? "(no message)"
  );
}
