/**
 * The runners' connection to the container engine: a socket of the rig in front of the engine's, which can be closed. The
 * engine and its containers keep running, but are unreachable.
 *
 * `gone`: connections end and new ones are refused, as when the engine is stopped. `mute`: connections stay and new ones are
 * accepted, but nothing is answered, as when it hangs. After `mend` new connections are passed on again and hanging ones end;
 * after `remove` the socket is never opened again.
 */
import { rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

export const ENGINE_LOSSES = ["gone", "mute"] as const;
export type EngineLoss = (typeof ENGINE_LOSSES)[number];

const ENGINE = (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");

export class EngineWay {
  readonly #path: string;
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #isMute = false;
  #isRemoved = false;

  constructor(dir: string) {
    this.#path = join(dir, "engine.sock");
  }

  /** For DOCKER_HOST. */
  get url(): string {
    return `unix://${this.#path}`;
  }

  async open(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (near) => this.#pass(near));
    rmSync(this.#path, { force: true });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(this.#path, resolve));
    this.#server = server;
  }

  /** Makes the engine unreachable. */
  lose(how: EngineLoss): void {
    if (how === "gone") return this.#close();
    this.#isMute = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Makes the engine reachable again. */
  async mend(): Promise<void> {
    if (this.#isMute) this.#endAll();
    this.#isMute = false;
    if (this.#server === null && !this.#isRemoved) await this.open();
  }

  remove(): void {
    this.#isRemoved = true;
    this.#close();
  }

  #close(): void {
    this.#server?.close();
    this.#server = null;
    this.#endAll();
    rmSync(this.#path, { force: true });
  }

  #endAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(near: Socket): void {
    this.#keep(near);
    if (this.#isMute) return void near.pause();
    const far = connect({ path: ENGINE, allowHalfOpen: true });
    this.#keep(far);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (chunk: Buffer) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on("drain", () => {
        if (!this.#isMute) from.resume();
      });
      from.on("end", () => to.end());
      from.on("close", () => to.destroy());
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}
