/** Reading and writing the files of a sandbox: the supervisor's own work, or a tool of the image. Callers judge its output. */
import { runCommand } from "./command-run.ts";
import { encodeFrame } from "./frames.ts";
import { OutputBound } from "./output-bound.ts";
import type { SupervisorConversation } from "./supervisor-conversation.ts";
import type { Command } from "../ports.ts";
import { Refusal } from "../workspace/refusal.ts";

export const TOOL_DEADLINE_MS = 60_000;
/** Nothing of a step is served while the supervisor reads beside it. */
const PEEK_DEADLINE_MS = 20_000;
const COMPLAINT_BYTES = 16 * 1024;
const ENV = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };

/** The types of frame that ask a supervisor to list the workspace or its top, to send files, or to tell what was written. */
type OwnWork = "L" | "U" | "T" | "W";

export interface Tool {
  /** The words of a tool, or what the supervisor does itself. */
  readonly what: readonly string[] | OwnWork;
  readonly payload?: string;
  readonly stdin?: Command["stdin"];
  /** May throw a refusal, which ends the tool and not the sandbox. */
  readonly hear?: Hear | undefined;
}

export type Hear = (piece: Buffer) => void;

/** Rejects when the tool fails, which ends the sandbox. */
export async function runTool(words: SupervisorConversation, tool: Tool): Promise<void> {
  const { exitCode, complaint } = await tryTool(words, tool);
  if (exitCode === 0) return;
  const name = typeof tool.what === "string" ? "the supervisor's reading" : (tool.what[0] ?? "");
  throw words.protocol(`${name} ended with ${exitCode}: ${complaint}`);
}

export async function tryTool(
  words: SupervisorConversation,
  { what, payload = "", stdin = null, hear = () => undefined }: Tool,
): Promise<{ exitCode: number; complaint: string }> {
  const complaint = new OutputBound(COMPLAINT_BYTES);
  const { accept, signal } = untilRefused(hear);
  const isOwn = typeof what === "string";
  const step = {
    argv: isOwn ? [] : what,
    own: isOwn ? encodeFrame(what, Buffer.from(payload)) : undefined,
    cwd: "/workspace",
    env: ENV,
    stdin,
    timeoutMs: TOOL_DEADLINE_MS,
    signal,
  };
  const heard = (stream: "stdout" | "stderr", piece: Buffer): void => {
    if (stream === "stderr") complaint.push(piece);
    else accept(piece);
  };
  const { exitCode } = await runCommand(words, step, { heard, soFar: () => null });
  signal.throwIfAborted();
  return { exitCode, complaint: complaint.finish(200).tail.trim() };
}

/** The supervisor's own reading while a command waits for the answer to its question. */
export async function readBeside(
  words: SupervisorConversation,
  type: OwnWork,
  payload: Buffer,
  hear: Hear,
): Promise<void> {
  const { accept, signal } = untilRefused(hear);
  const asked = Buffer.concat([Buffer.from(type, "latin1"), payload]);
  const isDone = await words.look(asked, PEEK_DEADLINE_MS, accept);
  signal.throwIfAborted();
  if (!isDone) throw new Error("the workspace could not be read beside the command that waits");
}

/** Hears pieces until one is refused. The refusal aborts the signal and is its reason. */
function untilRefused(hear: Hear): { accept: Hear; signal: AbortSignal } {
  const refused = new AbortController();
  const accept = (piece: Buffer): void => {
    if (refused.signal.aborted) return;
    try {
      hear(piece);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused.abort(error);
    }
  };
  return { accept, signal: refused.signal };
}
