// Probes ports on loopback.
import { connect, createServer } from "node:net";

const HOST = "127.0.0.1";

/** True when no process listens on the port. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
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
