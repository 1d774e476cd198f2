import { AntiphonError, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { UntilEnd } from "../process/until-end.ts";
import { callRpc } from "../rpc/rpc.ts";

export type InputSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array> | string;

const PIECE_BYTES = 64 * 1024;
/** Answers meaning that the command reads no more input; its exit is reported elsewhere. */
const ENDED: ReadonlySet<string> = new Set(["ANT_SANDBOX_REFUSED", "ANT_SANDBOX_SESSION_OVER"]);

interface Address {
  readonly sessionId: string;
  readonly execId: string;
  readonly node: string;
}

/**
 * Feeds input to a command of a session, one piece at a time; the answer to a piece means there is room for the next.
 */
export class CommandInput {
  readonly #bus: Bus;
  readonly #address: Address;
  readonly #onFailure: () => void;
  readonly #untilStopped: UntilEnd;
  #stop: () => void = () => undefined;
  #isStopped = false;
  #seq = 0;
  /** Error of the source. */
  failure: Error | null = null;

  /** `onFailure`: called once if the source fails, since the command's input would then never end. */
  constructor(bus: Bus, address: Address, onFailure: () => void) {
    this.#bus = bus;
    this.#address = address;
    this.#onFailure = onFailure;
    this.#untilStopped = new UntilEnd(new Promise<void>((resolve) => (this.#stop = resolve)));
  }

  /** The command has ended. */
  stop(): void {
    this.#isStopped = true;
    this.#stop();
  }

  /** Never rejects; an error is in `failure`. */
  async feed(source: InputSource): Promise<void> {
    const pieces = piecesOf(source);
    try {
      for (;;) {
        const next = await this.#untilStopped.wait(pieces.next());
        if (next === null) break;
        if (next.done === true) return await this.#send(Buffer.alloc(0), true);
        await this.#send(next.value, false);
      }
      void pieces.return(undefined).catch(() => undefined); // a source that fails after the end does no harm
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      this.#onFailure();
    }
  }

  /** Repeats a piece until it is answered; the runner recognises it by its number. */
  async #send(bytes: Buffer, end: boolean): Promise<void> {
    const { sessionId, execId, node } = this.#address;
    const piece = { sessionId, execId, seq: this.#seq, data: bytes.toString("base64"), end };
    this.#seq += 1;
    while (!this.#isStopped) {
      try {
        await callRpc(this.#bus, subjects.sandboxSession("input", node), piece);
        return;
      } catch (error) {
        const code = error instanceof AntiphonError ? error.code : "ANT_INTERNAL";
        if (ENDED.has(code)) return;
        if (code !== "ANT_RPC_TIMEOUT") throw error; // a time-out means a slow reader or a lost answer: repeat
      }
    }
  }
}

async function* piecesOf(source: InputSource): AsyncGenerator<Buffer, void> {
  const chunks = typeof source === "string" ? [Buffer.from(source, "utf8")] : source;
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
