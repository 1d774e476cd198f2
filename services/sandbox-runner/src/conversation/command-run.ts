/** One command of a sandbox: it is sent with its input, and its frames are told to whoever asked for them, until it exits. */
import { feed } from "./command-feed.ts";
import { encodeFrame, type Frame } from "./frames.ts";
import { encodeStep, parseExit, type ExitWord } from "./step-script.ts";
import type { Command, PartialOutput } from "../ports.ts";
import type { SupervisorConversation } from "./supervisor-conversation.ts";
import type { Turn } from "./turn.ts";

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
  /** While a promise that it returned is pending, the command waits. */
  readonly heard: NonNullable<Command["onOutput"]>;
  readonly soFar: () => PartialOutput | null;
}

/** Resolves when the command has exited. */
export async function runCommand(
  words: SupervisorConversation,
  step: Step,
  listeners: Listeners,
): Promise<ExitWord & { readonly timedOut: boolean }> {
  const said = step.own ?? encoded(words, step);
  const turn: Turn<ExitWord> = words.begin({
    ...step,
    hear: (frame) => afterFrame(words, turn, step, listeners, frame),
    partial: listeners.soFar,
  });
  const { ended, window } = turn;
  const kill = (): void => turn.kill();
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
    return { ...exit, timedOut: turn.isLate && exit.signal === SIGKILL };
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
  turn: Turn<ExitWord>,
  { onQuestion, onHeard }: Step,
  { heard, soFar }: Listeners,
  { type, payload }: Frame,
): ExitWord | null {
  const mayAsk = onQuestion !== undefined;
  if (type === "o" || type === "e") {
    const taken = heard(type === "o" ? "stdout" : "stderr", payload);
    if (taken instanceof Promise) turn.waitFor(taken); // sandbox-runner/S10
  } else if (type === "a" && mayAsk) {
    turn.deadline.rest();
    onQuestion(payload.toString("utf8"), soFar);
  } else if (type === "v" && mayAsk) turn.peek.hear(payload);
  else if (type === "y" && mayAsk) turn.peek.end(payload.toString("latin1") === "0");
  else if (type === "b") {
    const [number = 0, look = 0] = payload.toString("latin1").split(" ").map(Number);
    onHeard?.({ number, look });
  } else {
    const exit = type === "x" ? parseExit(payload.toString("utf8")) : null;
    const fault =
      type === "x" ? "an invalid exit frame" : `${type}: ${payload.toString("utf8").slice(0, 200)}`;
    if (exit === null) throw words.protocol(fault);
    return exit;
  }
  return null;
}
