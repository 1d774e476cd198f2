/** One command of a sandbox: it is sent with its input, and its frames are told to whoever asked for them, until it exits. */
import { feed, InputWindow } from "./command-feed.ts";
import { encodeFrame, type Frame } from "./frames.ts";
import { encodeStep, parseExit, type ExitWord } from "./step-script.ts";
import type { Command, PartialOutput } from "../ports.ts";
import type { SupervisorConversation } from "./supervisor-conversation.ts";

const SIGKILL = 9;

/** One command, as it is sent to the supervisor. */
type Step = Pick<
  Command,
  "argv" | "cwd" | "env" | "stdin" | "timeoutMs" | "timeoutEnds" | "signal" | "onQuestion" | "onHeard"
> & {
  /** A frame for the supervisor's own work, instead of a command. */
  readonly own?: Buffer | undefined;
};

interface Listeners {
  readonly heard: (stream: "stdout" | "stderr", piece: Buffer) => void;
  readonly soFar: () => PartialOutput | null;
}

/** Resolves when the command has exited. */
export async function runCommand(
  words: SupervisorConversation,
  step: Step,
  listeners: Listeners,
): Promise<ExitWord & { readonly timedOut: boolean }> {
  const said = step.own ?? encoded(words, step);
  const window = new InputWindow(words.isPlain);
  let isLate = false;
  const ended = words.await<ExitWord>(
    step.timeoutMs,
    (resolve, reject) => (frame) => {
      const exit = afterFrame(words, step, listeners, frame);
      if (exit instanceof Error) reject(exit);
      else if (exit !== null) resolve(exit);
    },
    listeners.soFar,
    () => {
      if (step.timeoutEnds !== "command") return words.over({ kind: "timeout" });
      isLate = true;
      words.killCommand();
    },
    window,
  );
  const kill = (): void => words.killCommand();
  step.signal?.addEventListener("abort", kill, { once: true });
  // A failed write also shows in `ended`, with a better name. Both are awaited, so that neither rejection is left
  // unhandled.
  const fed = feed((bytes) => words.write(bytes), window, said, step.stdin, ended).catch((error: unknown) => {
    words.over({ kind: "protocol", message: error instanceof Error ? error.message : String(error) });
  });
  if (step.signal?.aborted === true) kill();
  try {
    const exit = await ended;
    await fed;
    return { ...exit, timedOut: isLate && exit.signal === SIGKILL };
  } finally {
    step.signal?.removeEventListener("abort", kill);
  }
}

function encoded(words: SupervisorConversation, step: Step): Buffer {
  const text = encodeStep(words.hello?.kind ?? "perl", step);
  if (text === null) throw words.protocol("a command that cannot be encoded");
  const run = encodeFrame("R", text);
  return step.onQuestion === undefined ? run : Buffer.concat([encodeFrame("H"), run]);
}

/** Null: the command goes on. */
function afterFrame(
  words: SupervisorConversation,
  { onQuestion, onHeard }: Step,
  { heard, soFar }: Listeners,
  { type, payload }: Frame,
): ExitWord | Error | null {
  const mayAsk = onQuestion !== undefined;
  if (type === "o") heard("stdout", payload);
  else if (type === "e") heard("stderr", payload);
  else if (type === "a" && mayAsk) {
    words.restDeadline();
    onQuestion(payload.toString("utf8"), soFar);
  } else if (type === "v" && mayAsk) words.peek.hear(payload);
  else if (type === "y" && mayAsk) words.peek.end(payload.toString("latin1") === "0");
  else if (type === "b") {
    const [number = 0, look = 0] = payload.toString("latin1").split(" ").map(Number);
    onHeard?.({ number, look });
  } else if (type === "x")
    return parseExit(payload.toString("utf8")) ?? words.protocol("an invalid exit frame");
  else return words.protocol(`${type}: ${payload.toString("utf8").slice(0, 200)}`);
  return null;
}
