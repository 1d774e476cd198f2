/** kill -9 of an egress gateway that a sandbox is using: a gateway process, a real container and real NATS. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { egressWorld, grantOf, type EgressWorld } from "../../support/egress-world.ts";
import { NAMES } from "../../support/egress-upstreams.ts";
import { eventually } from "../../support/nats.ts";
import { builtProgram } from "../../support/built-program.ts";

const PROGRAM = new URL("../../support/egress-process.ts", import.meta.url);
/** Much longer than the grace of a step, much shorter than its time limit. */
const SOON_MS = 15_000;
const GRANT = grantOf([NAMES.other]);

let world: EgressWorld;
let server: Server;
let directory: string;
let gateway: ChildProcess;
/** Paths of the transfers under way. */
const open = new Set<string>();
/** True once the program in the sandbox has reported that its transfer is under way. */
let moving = false;

beforeAll(async () => {
  world = await egressWorld("killed");
  await world.services.egress.stop();
  directory = mkdtempSync(join(tmpdir(), "antiphon-killed-"));
  server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = { overrides: { [`${NAMES.other}:80`]: `127.0.0.1:${port}` } };
  writeFileSync(join(directory, "egress.json"), JSON.stringify(config));
});
beforeEach(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await kill();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true, force: true });
  await world.close();
});

/** `/download` sends bytes for as long as the client reads, and never ends. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = request.url ?? "";
  open.add(url);
  response.once("close", () => open.delete(url));
  for (const side of [request, response]) side.on("error", () => undefined);
  if (url === "/upload") return void request.resume();
  if (url === "/moving") moving = true;
  if (url !== "/download") return void response.end("served");
  response.writeHead(200, { "content-length": String(2 ** 40) });
  const timer = setInterval(() => response.write(Buffer.alloc(4096, "x")), 20);
  response.once("close", () => clearInterval(timer));
}

async function startGateway(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [await builtProgram(PROGRAM)], {
    env: {
      ...process.env,
      ANTIPHON_NATS_URL: world.nats.url,
      ANTIPHON_UNSAFE_TRUST: "1",
      ANTIPHON_EGRESS_CONFIG: join(directory, "egress.json"),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => (said += piece.toString("utf8")));
  await eventually("the gateway serves", () => {
    if (child.exitCode !== null) throw new Error(`the gateway ended:\n${said}`);
    return said.includes("egress for sandboxes");
  });
  return child;
}

async function kill(): Promise<void> {
  if (gateway.exitCode !== null || gateway.signalCode !== null) return;
  const ended = once(gateway, "exit");
  gateway.kill("SIGKILL");
  await ended;
}

/** A program that transfers bytes until its connection ends, prints how it ended, and then runs `after`. */
const transfer = (path: string, after: string): string => `python3 - <<'PY'
import socket, time, urllib.request
s = socket.create_connection(("127.0.0.1", 3128))
said = False
way = "POST" if "${path}" == "/upload" else "GET"
more = "Content-Length: 1000000000\\r\\n" if way == "POST" else ""
s.sendall(f"{way} http://${NAMES.other}${path} HTTP/1.1\\r\\nHost: ${NAMES.other}\\r\\n{more}\\r\\n".encode())
moved = 0
try:
    while True:
        if moved > 32768 and not said:
            said = True
            urllib.request.urlopen("http://${NAMES.other}/moving").read()
        if way == "POST":
            s.sendall(b"x" * 4096); moved += 4096; time.sleep(0.02)
        else:
            piece = s.recv(65536)
            if not piece: break
            moved += len(piece)
    print("ended in the middle" if said else "ended", flush=True)
except OSError as e: print("broken in the middle" if said else "broken", flush=True)
${after}
PY
`;

/** Runs a job, kills the gateway during the transfer, and measures how long the job went on after that. */
async function killedWithin(path: string, after: string) {
  moving = false;
  const running = world.run(GRANT, transfer(path, after));
  await eventually("bytes move", () => moving && open.has(path));
  await kill();
  const at = performance.now();
  const job = await running;
  return { ...job, ms: performance.now() - at };
}

/** Whether the job's container still exists. */
const leftover = async (containerId: string): Promise<boolean> =>
  (await world.engine.containers()).some(({ id }) => id === containerId);

describe("a gateway that is killed in the middle of a transfer", () => {
  it.each([
    ["/download", "exits after its connection broke", "", 0],
    ["/download", "never exits", "time.sleep(600)", null],
    ["/upload", "exits after its connection broke", "", 0],
  ] as const)(
    "%s of a program that %s: the job ends soon, as ANT_EGRESS_LOST",
    async (path, _, after, exit) => {
      const { outcome, out, ms } = await killedWithin(path, after);
      expect(outcome).toMatchObject({ outcome: "error", code: "ANT_EGRESS_LOST", changes: null });
      expect(outcome.egress).toBeUndefined();
      expect(ms).toBeLessThan(SOON_MS);
      // The connection was closed inside the sandbox, and the step reports its real outcome.
      expect(out).toMatch(/^(ended|broken) in the middle\n$/);
      expect(outcome.steps.map(({ exitCode }) => exitCode)).toEqual([exit]);
      await eventually("the upstream's connection is closed", () => open.size === 0);
      await eventually("the container is gone", async () => !(await leftover(outcome.meta.containerId)));
      // Without a gateway the next job is refused with its code; with one it is served.
      expect((await world.run(GRANT, "echo ran")).outcome).toMatchObject({
        outcome: "error",
        code: "ANT_EGRESS_UNAVAILABLE",
        steps: [],
      });
      gateway = await startGateway();
      const next = await world.run(
        GRANT,
        `python3 -c "import urllib.request as u; print(u.urlopen('http://${NAMES.other}/next').read())"`,
      );
      expect(next.outcome).toMatchObject({ outcome: "completed", code: null, egress: { requests: 1 } });
      expect(next.out).toContain("served");
      await kill();
    },
  );
});
