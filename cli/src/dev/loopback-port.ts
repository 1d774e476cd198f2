// Probes ports on loopback.
import { connect } from "node:net";

const HOST = "127.0.0.1";

const ANSWER_MS = 1_000;

/**
 * True when no process listens on the port. It asks instead of listening for a moment, which another program that asks at the
 * same time would take for a server.
 */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    const finish = (free: boolean): void => {
      socket.destroy();
      resolve(free);
    };
    socket.setTimeout(ANSWER_MS, () => finish(false)); // A listener that is too busy to accept.
    socket.once("connect", () => finish(false));
    socket.once("error", (error: NodeJS.ErrnoException) => finish(error.code === "ECONNREFUSED"));
  });
}

/** The first line a server sends to a new connection, or null. It tells a nats-server from other programs. */
export function greeting(port: number, timeoutMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    const finish = (line: string | null): void => {
      socket.destroy();
      resolve(line);
    };
    socket.setTimeout(timeoutMs, () => finish(null));
    socket.once("error", () => finish(null));
    socket.once("close", () => resolve(null));
    socket.setEncoding("utf8").once("data", (text: string) => finish(text.split("\r\n")[0] ?? ""));
  });
}
