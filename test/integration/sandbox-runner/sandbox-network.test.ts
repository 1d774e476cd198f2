/**
 * The carrier of a sandbox's traffic on the real engine: loopback inside, frames over stdio, a dialled connection
 * outside. The egress gateway decides what may pass; here everything may.
 */
import { createHash, randomBytes } from "node:crypto";
import { readlinkSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Sandbox } from "../../../services/sandbox-runner/src/ports.ts";
import { shell, testEngine, until } from "../../support/docker.ts";

const test = testEngine("network");
const PORT = 3128;

describe("a sandbox's network", () => {
  let sandbox: Sandbox;
  let server: Server;
  let dialled = 0;
  const outside = new Set<Socket>();
  let serve: (socket: Socket) => void = () => undefined;

  beforeAll(async () => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      outside.add(socket);
      socket.on("close", () => outside.delete(socket));
      socket.on("error", () => undefined);
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await test.expectNoContainers();
  });
  beforeEach(async () => {
    sandbox = await test.provider.start(await test.order());
    dialled = 0;
  });
  afterEach(() => sandbox.destroy({ kind: "canceled", reason: "test over" }));

  const open = (): Promise<string | null> | undefined =>
    sandbox.network?.(PORT, () => {
      dialled += 1;
      return connect((server.address() as AddressInfo).port, "127.0.0.1");
    });
  const python = (program: string) =>
    sandbox.run(shell("", { argv: ["python3", "-c", program], timeoutMs: 30_000 }));

  it("sandbox-runner/S1: is a loopback interface of its own, where localhost has its name", async () => {
    const look = `
import os, socket
names = sorted({a[4][0] for a in socket.getaddrinfo("localhost", 80, socket.AF_INET, socket.SOCK_STREAM)})
print(os.listdir("/sys/class/net"), len(open("/proc/net/route").readlines()), names)`;
    expect((await python(look)).stdout.tail).toBe("['lo'] 1 ['127.0.0.1']\n");
    const other = await test.provider.start(await test.order());
    const spaces = await Promise.all(
      [sandbox, other].map((one) => one.run(shell("readlink /proc/self/ns/net"))),
    );
    await other.destroy({ kind: "canceled", reason: "test over" });
    const all = [...spaces.map(({ stdout }) => stdout.tail.trim()), readlinkSync("/proc/self/ns/net")];
    expect(new Set(all).size).toBe(3);
  });

  it("does not exist until the runner opens it", async () => {
    const probe = `import socket; s = socket.socket(); print(s.connect_ex(("127.0.0.1", ${PORT})))`;
    expect((await python(probe)).stdout.tail).toBe("111\n");
    expect(await open()).toBeNull();
    serve = (socket) => socket.resume().end();
    expect((await python(probe)).stdout.tail).toBe("0\n");
  });

  it("carries many bytes both ways, and half-closed streams to their end", async () => {
    serve = (socket) => socket.pipe(socket);
    await open();
    const { stdout, stderr } = await python(`
import socket, hashlib, threading, os
data = os.urandom(8 << 20)
s = socket.create_connection(("127.0.0.1", ${PORT}))
def send():
    s.sendall(data); s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
got = bytearray()
while True:
    piece = s.recv(65536)
    if not piece: break
    got += piece
print(len(got), hashlib.sha256(got).digest() == hashlib.sha256(data).digest())`);
    expect([stdout.tail, stderr.tail]).toEqual([`${8 << 20} True\n`, ""]);
  });

  it("lets a slow reader block only its own connection", async () => {
    const body = randomBytes(4 << 20);
    serve = (socket) => socket.resume().end(body);
    await open();
    const { stdout, stderr } = await python(`
import socket, hashlib
slow = socket.create_connection(("127.0.0.1", ${PORT}))
for i in range(3):
    s = socket.create_connection(("127.0.0.1", ${PORT})); got = hashlib.sha256()
    while True:
        piece = s.recv(65536)
        if not piece: break
        got.update(piece)
    print(got.hexdigest())
rest = 0
while True:
    piece = slow.recv(65536)
    if not piece: break
    rest += len(piece)
print(rest)`);
    const digest = createHash("sha256").update(body).digest("hex");
    expect([stdout.tail, stderr.tail]).toEqual([`${digest}\n`.repeat(3) + `${body.length}\n`, ""]);
  });

  it("carries 200 connections, at most 64 at once, and the others wait", async () => {
    let most = 0;
    serve = (socket) => {
      most = Math.max(most, outside.size);
      socket.pipe(socket);
    };
    await open();
    const { stdout, stderr } = await python(`
import socket
done = 0
for batch in range(5):
    all = [socket.create_connection(("127.0.0.1", ${PORT})) for _ in range(40)]
    for i, s in enumerate(all): s.sendall(b"%d" % i)
    for i, s in enumerate(all):
        assert s.recv(100) == b"%d" % i; done += 1
        s.close()
print(done)`);
    expect([stdout.tail, stderr.tail]).toEqual(["200\n", ""]);
    expect(most).toBeLessThanOrEqual(64);
  });

  it("breaks a connection for a client that still writes when the other side is gone, even after a clean end", async () => {
    serve = (socket) => socket.once("data", () => socket.resume().end("bye"));
    await open();
    const { stdout, stderr } = await python(`
import socket, time
s = socket.create_connection(("127.0.0.1", ${PORT})); s.sendall(b"x")
print(s.recv(100), s.recv(100), flush=True)
try:
    for _ in range(500): s.sendall(b"x" * 4096); time.sleep(0.01)
    print("taken for nobody")
except OSError as e: print(type(e).__name__)`);
    expect([stdout.tail, stderr.tail]).toEqual(["b'bye' b''\nBrokenPipeError\n", ""]);
  });

  it("ends its connections with their step", async () => {
    serve = (socket) => socket.resume().on("end", () => socket.end());
    await open();
    const left = await sandbox.run(
      shell(`(sleep 60 | nc 127.0.0.1 1) & python3 -c '
import socket, os, time
s = socket.create_connection(("127.0.0.1", ${PORT})); s.sendall(b"x")
if os.fork() == 0: time.sleep(60)
'`),
    );
    expect(left.exitCode).toBe(0);
    expect(
      await until(
        () => Promise.resolve(outside.size),
        (size) => size === 0,
        5_000,
      ),
    ).toBe(0);
    expect((await sandbox.run(shell("echo still here"))).stdout.tail).toBe("still here\n");
  });

  it("reports the death of the sandbox, not a missing network, when it is opened too late", async () => {
    await sandbox.destroy({ kind: "canceled", reason: "enough" });
    await expect(open()).rejects.toMatchObject({ death: { kind: "canceled", reason: "enough" } });
  });

  it("dials nothing after the sandbox is over, and drops open connections", async () => {
    serve = (socket) => socket.resume().on("end", () => socket.end());
    await open();
    const running = sandbox
      .run(
        shell(
          `python3 -c 'import socket, time; s = socket.create_connection(("127.0.0.1", ${PORT})); time.sleep(60)'`,
        ),
      )
      .catch(() => undefined);
    expect(
      await until(
        () => Promise.resolve(outside.size),
        (size) => size === 1,
        10_000,
      ),
    ).toBe(1);
    await sandbox.destroy({ kind: "canceled", reason: "test" });
    await running;
    expect(
      await until(
        () => Promise.resolve(outside.size),
        (size) => size === 0,
        5_000,
      ),
    ).toBe(0);
    expect(dialled).toBe(1);
  });
});
