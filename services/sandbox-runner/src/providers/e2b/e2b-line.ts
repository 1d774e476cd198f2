/**
 * The line to a supervisor in a machine of an E2B service: a terminal in raw mode. It is the only part of the service's
 * SDK that carries bytes unchanged, waits for a slow reader, and keeps nothing.
 *
 * Lifecycle: made (its lease is renewed from here on) -> open (a terminal is there) -> killed -> gone.
 *
 * A machine lives only while its lease is renewed: when this process ends, or can no longer reach the service, the
 * service ends the machine within the lease time. `gone` resolves when the service confirms the end, or when the lease of
 * an unreachable machine has expired.
 */
import type { CommandHandle, Sandbox as Machine } from "e2b";
import type { LineListener, SupervisorLine } from "../../conversation/supervisor-line.ts";

const KILL_MS = 3_000;
/** Most bytes in one request. Writers wait while more is queued. */
const REQUEST_BYTES = 512 * 1024;

export class E2bLine implements SupervisorLine {
  readonly id: string;
  readonly gone: Promise<number>;
  readonly #machine: Machine;
  readonly #leaseMs: number;
  readonly #renewing: NodeJS.Timeout;
  #vanish: (status: number) => void = () => undefined;
  #listener: LineListener | null = null;
  #terminal: CommandHandle | null = null;
  #waiting: Buffer[] = [];
  #sending: Promise<void> | null = null;
  #reading: Promise<void> | null = null;
  #readOn: () => void = () => undefined;
  #isKilled = false;

  constructor(machine: Machine, leaseMs: number) {
    this.#machine = machine;
    this.#leaseMs = leaseMs;
    this.id = machine.sandboxId;
    this.gone = new Promise((resolve) => (this.#vanish = resolve));
    this.#renewing = setInterval(() => {
      machine.setTimeout(leaseMs).catch((error: unknown) => {
        // After any other failure the next renewal tries again. If none succeeds, the lease expires and the machine
        // ends.
        if (error instanceof Error && error.name === "SandboxNotFoundError") this.#over();
      });
    }, leaseMs / 4);
    this.#renewing.unref();
  }

  /** Opens the terminal and sends the first command to its shell. */
  async open(words: string): Promise<void> {
    const size = { cols: 80, rows: 24 };
    const onData = async (bytes: Uint8Array): Promise<void> => {
      this.#listener?.stdout(Buffer.from(bytes));
      await this.#reading; // the SDK reads no further until this resolves
    };
    const terminal = await this.#machine.pty.create({
      ...size,
      user: "root",
      cwd: "/",
      timeoutMs: 0,
      onData,
    });
    this.#terminal = terminal;
    const ended = (): void => {
      this.#listener?.closed();
      void this.kill().catch(() => undefined); // `gone` reports the end
    };
    void terminal.wait().then(ended, ended);
    await this.write(Buffer.from(words, "utf8"));
  }

  listen(listener: LineListener): void {
    this.#listener = listener;
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#terminal === null) return;
    this.#waiting.push(bytes);
    this.#sending ??= this.#send(this.#terminal.pid);
    await this.#sending;
  }

  pause(): void {
    this.#reading ??= new Promise((resolve) => (this.#readOn = resolve));
  }

  resume(): void {
    this.#readOn();
    this.#reading = null;
  }

  async kill(): Promise<void> {
    if (this.#isKilled) return;
    this.#isKilled = true;
    clearInterval(this.#renewing);
    try {
      await this.#machine.kill({ requestTimeoutMs: KILL_MS });
      this.#over();
    } catch (error) {
      setTimeout(() => this.#over(), this.#leaseMs).unref(); // the lease has expired by then
      throw error;
    }
  }

  remove(): Promise<void> {
    this.#isKilled = false;
    return this.kill();
  }

  /** Metadata can only be given when the machine is made. */
  rename(): Promise<void> {
    return Promise.resolve();
  }

  hangUp(): void {
    this.resume();
    void this.#terminal?.disconnect();
  }

  /** Sends in order, one request at a time, each with as many queued bytes as fit. */
  async #send(terminal: number): Promise<void> {
    while (this.#waiting.length > 0) {
      const all = Buffer.concat(this.#waiting);
      this.#waiting = all.length > REQUEST_BYTES ? [all.subarray(REQUEST_BYTES)] : [];
      try {
        await this.#machine.pty.sendInput(terminal, all.subarray(0, REQUEST_BYTES));
      } catch {
        this.#waiting = [];
        this.#listener?.closed(); // bytes were lost, so the line can no longer be used
      }
    }
    this.#sending = null;
  }

  #over(): void {
    clearInterval(this.#renewing);
    this.hangUp();
    this.#vanish(-1);
  }
}
