/** Sends a command with its input, never far ahead of the command's reading, so that a kill never queues behind input. */
import { UntilEnd } from "@antiphon/runtime";
import type { Command } from "../ports.ts";
import { encodeFrame, encodeStdin, FRAME_HEADER_BYTES } from "./frames.ts";

const WINDOW_BYTES = 1024 * 1024;
/** Input up to this size is sent to a sealed supervisor together with its command: it can never fill the window. */
const AT_ONCE_BYTES = 32 * 1024;

/** How much input may be sent that the command has not read yet. */
export class InputWindow {
  /** The supervisor takes its input frame by frame. */
  readonly isPlain: boolean;
  /** By the supervisor's count. */
  #takenBytes = 0;
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(isPlain: boolean) {
    this.isPlain = isPlain;
  }

  taken(bytes: number): void {
    this.#takenBytes += bytes;
    this.#wake();
  }

  /** The command has ended and takes no more. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Resolves when the input sent and not yet taken leaves room; for a plain supervisor, when all of it was taken. */
  async roomFor(sentBytes: number): Promise<true> {
    const most = this.isPlain ? 1 : WINDOW_BYTES;
    while (!this.#isClosed && sentBytes - this.#takenBytes >= most)
      await new Promise<void>((resolve) => (this.#wake = resolve));
    return true;
  }
}

/** `said`: the command. The input also ends when the command ends without reading all of it. */
export async function feed(
  write: (bytes: Buffer) => Promise<void>,
  window: InputWindow,
  said: Buffer,
  stdin: Command["stdin"],
  ended: Promise<unknown>,
): Promise<void> {
  const { isPlain } = window;
  if (!isPlain && (stdin === null || (Buffer.isBuffer(stdin) && stdin.length <= AT_ONCE_BYTES))) {
    return write(Buffer.concat([said, ...encodeStdin(stdin ?? Buffer.alloc(0)), encodeFrame("E")]));
  }
  await write(said);
  const over = new UntilEnd(ended);
  const pieces = piecesOf(Buffer.isBuffer(stdin) ? [stdin] : (stdin ?? []));
  let sent = isPlain ? said.length - FRAME_HEADER_BYTES : 0;
  for (;;) {
    const next = await over.wait(pieces.next());
    if (next === null || next.done === true) break;
    for (const frame of encodeStdin(next.value)) {
      if ((await over.wait(window.roomFor(sent))) === null) break;
      sent += frame.length - FRAME_HEADER_BYTES;
      await write(frame);
    }
  }
  void pieces.return(undefined).catch(() => undefined); // a failure to close the source is reported by its owner
  if (isPlain) await over.wait(window.roomFor(sent));
  await write(encodeFrame("E"));
}

async function* piecesOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* source;
}
