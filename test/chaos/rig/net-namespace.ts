/**
 * A network of its own for one process, connected to this machine by a virtual cable that can be cut. Packets into a cut cable
 * are lost silently, as in a real partition.
 *
 * Lifecycle: made -> (cut -> mended)* -> removed, at the latest when this process exits. Needs root and `ip`.
 */
import { execFileSync } from "node:child_process";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface NetNamespace {
  readonly name: string;
  /** The servers' addresses as seen from inside. */
  readonly natsUrl: string;
  cut(): void;
  mend(): void;
  remove(): Promise<void>;
}

let serial = 0;

const ip = (...args: string[]): void => {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
};

/** `natsPorts` listen on this machine's loopback; the process reaches them through the cable. */
export async function makeNamespace(natsPorts: readonly number[]): Promise<NetNamespace> {
  const index = (serial += 1);
  const name = `antch${process.pid}n${index}`;
  const [here, there] = [`ac${process.pid}h${index}`, `ac${process.pid}t${index}`];
  const net = `10.${200 + (process.pid % 50)}.${index % 250}`;
  ip("netns", "add", name);
  ip("link", "add", here, "type", "veth", "peer", "name", there);
  ip("link", "set", there, "netns", name);
  ip("addr", "add", `${net}.1/30`, "dev", here);
  ip("link", "set", here, "up");
  const inside = (...args: string[]): void => ip("netns", "exec", name, "ip", ...args);
  inside("addr", "add", `${net}.2/30`, "dev", there);
  inside("link", "set", there, "up");
  inside("link", "set", "lo", "up");
  const doors = await Promise.all(natsPorts.map((port) => openDoor(`${net}.1`, port)));
  const undo = (): void => {
    ip("link", "del", here);
    ip("netns", "del", name);
  };
  process.once("exit", undo);
  return {
    name,
    natsUrl: doors.map(({ port }) => `nats://${net}.1:${port}`).join(","),
    cut: () => ip("link", "set", here, "down"),
    mend: () => ip("link", "set", here, "up"),
    async remove() {
      await Promise.all(doors.map((door) => door.close()));
      process.off("exit", undo);
      undo();
    },
  };
}

/** Forwards connections from the cable to the server on loopback. */
async function openDoor(host: string, natsPort: number): Promise<{ port: number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  const server: Server = createServer((outer) => {
    const inner = connect(natsPort, "127.0.0.1");
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      open.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.once("error", () => other.destroy()); // Broken connections are the purpose.
      one.once("close", () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
