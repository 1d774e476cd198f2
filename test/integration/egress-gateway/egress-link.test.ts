/**
 * A sandbox's link to its listener, real on both sides: the link ends with its job, and its token never enters the sandbox.
 * The test reads the gateway's answers to the runner off the bus.
 */
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  decode,
  subjects,
  type EgressOpened,
  type SandboxEvent,
  type SandboxOutcome,
  type SandboxRequest,
} from "@antiphon/contracts";
import { callRpc, sandboxClient } from "@antiphon/runtime";
import { egressWorld, grantOf, type EgressWorld } from "../../support/egress-world.ts";
import { NAMES } from "../../support/egress-upstreams.ts";
import { eventually } from "../../support/nats.ts";

const GRANT = grantOf([NAMES.echo]);

let world: EgressWorld;
/** All listeners that the gateway has opened for the runner. */
const given: EgressOpened[] = [];
let tap: { unsubscribe(): void };

beforeAll(async () => {
  world = await egressWorld("link");
});
afterAll(() => world.close());
beforeEach(async () => {
  given.length = 0;
  tap = world.bus.nc.subscribe("_INBOX.>", {
    callback: (_, message) => {
      const said = Buffer.from(message.data).toString("latin1");
      if (said.includes("token") && said.includes("BEGIN CERTIFICATE")) given.push(openedIn(message.data));
    },
  });
  await world.bus.nc.flush();
});
afterEach(() => tap.unsubscribe());

function openedIn(data: Uint8Array): EgressOpened {
  return decode(data) as EgressOpened;
}

/** Expects that the port is closed, and that the gateway no longer knows the lease. */
async function expectGone({ host, port, token, lease, node }: EgressOpened): Promise<void> {
  const socket = connect(port, host);
  const refused = new Promise<string>((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    socket.once("connect", () => resolve("connected"));
  });
  socket.write(`${token} data\nGET http://${NAMES.echo}/ HTTP/1.1\r\nHost: ${NAMES.echo}\r\n\r\n`);
  expect(await refused).toBe("ECONNREFUSED");
  expect(await text(socket).catch(() => "")).toBe("");
  await expect(callRpc(world.bus, subjects.egressClose(node), { lease })).rejects.toMatchObject({
    code: "ANT_EGRESS_LOST",
  });
}

interface Way {
  readonly name: string;
  readonly script: string;
  readonly step?: Partial<SandboxRequest["steps"][number]>;
  /** Cancels the job once its sandbox has started. */
  readonly cancel?: true;
  readonly ends: Partial<SandboxOutcome>;
}

const WAYS: readonly Way[] = [
  {
    name: "its time is over",
    script: "sleep 60",
    step: { timeoutMs: 1_500 },
    ends: { outcome: "timeout", code: "ANT_SANDBOX_TIMEOUT" },
  },
  {
    name: "it is canceled",
    script: "echo begun; sleep 60",
    cancel: true,
    ends: { outcome: "canceled", code: "ANT_SANDBOX_CANCELED" },
  },
  {
    name: "its container is killed",
    script: "echo begun; sleep 60",
    ends: { outcome: "error", code: "ANT_SANDBOX_FAILED" },
  },
  { name: "its step fails", script: "exit 3", ends: { outcome: "completed" } },
  { name: "it is done", script: "echo done", ends: { outcome: "completed", code: null } },
];

async function run(way: Way): Promise<SandboxOutcome> {
  const stop = new AbortController();
  let container = "";
  const request: SandboxRequest = {
    jobId: `job-${way.name.replaceAll(/\W/g, "-")}`,
    run: "run_link",
    task: "T-001",
    epoch: 1,
    purpose: "attempt",
    image: null,
    budgetMs: 60_000,
    workspace: { tree: null, files: [], overlay: null, deletions: [] },
    steps: [
      {
        id: "step",
        argv: ["bash", "-c", way.script],
        env: {},
        timeoutMs: 30_000,
        continueOnFailure: false,
        ...way.step,
      },
    ],
    collect: false,
    egress: GRANT,
  };
  const onEvent = (event: SandboxEvent): void => {
    if (event.kind === "started") container = event.containerId;
  };
  const over = sandboxClient(world.bus, { requester: "test" }).run(request, { signal: stop.signal, onEvent });
  if (way.cancel === true || way.name === "its container is killed") {
    await eventually("it is linked", () => given.length === 1 && container !== "");
    if (way.cancel === true) stop.abort("enough");
    else await world.engine.engine.kill(container);
  }
  return over;
}

describe("the listener and its token", () => {
  it.each(WAYS)("are gone with the job when $name", async (way) => {
    const outcome = await run(way);
    expect(outcome).toMatchObject(way.ends);
    expect(given).toHaveLength(1);
    await expectGone(given[0] as EgressOpened);
  });
});

/** Prints the digest of every word of 64 hexadecimal digits it finds in files, environments and memory. */
const SEARCH = `
python3 - <<'PY'
import hashlib, os, re
word = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
found = set()
def look(data):
    for one in word.findall(data): found.add(hashlib.sha256(one).hexdigest())
def read(path):
    try:
        with open(path, "rb") as f: look(f.read(64 << 20))
    except OSError: pass
for root in ["/workspace", "/tmp", "/etc", "/dev/shm", "/run", "/var/tmp", "/home", "/root"]:
    for d, _, names in os.walk(root):
        for n in names: read(os.path.join(d, n))
me = str(os.getpid())
for p in os.listdir("/proc"):
    if not p.isdigit(): continue
    for n in ["environ", "cmdline"]: read(f"/proc/{p}/{n}")
    try:
        maps = open(f"/proc/{p}/maps").read().splitlines()
        mem = open(f"/proc/{p}/mem", "rb")
        for line in maps:
            a, b = [int(x, 16) for x in line.split()[0].split("-")]
            try:
                mem.seek(a); look(mem.read(b - a))
            except (OSError, ValueError, OverflowError): pass
    except OSError: pass
print("digests", *sorted(found))
PY`;

describe("a sandbox with egress", () => {
  it("gets a loopback port and a certificate, and the token is in none of its files, environments or memory", async () => {
    const planted = "5".repeat(64);
    const { out, outcome, log } = await world.run(
      GRANT,
      `export PLANTED=${planted}; env | grep -i -e proxy -e antiphon -e cert; sleep 60 &
       python3 -c "import urllib.request as u; u.urlopen('https://${NAMES.echo}/hello').read()"
       cat /tmp/.antiphon-ca.pem; ${SEARCH}`,
    );
    expect(log.map(({ decision }) => decision)).toEqual(["allow"]); // the link was used
    const [{ token, port, ca }] = given as [EgressOpened];
    const digest = (word: string): string => createHash("sha256").update(word).digest("hex");
    expect(out).toContain(digest(planted)); // the search finds a planted word
    expect(out).not.toContain(digest(token));
    expect(out).toContain("http_proxy=http://127.0.0.1:3128");
    expect(out).toContain(ca.trim());
    expect(out).not.toContain("PRIVATE");
    expect(out).not.toContain(`:${port}`);
    // The token is not in the job's outcome or in any log either.
    expect([JSON.stringify(outcome), ...world.logged].filter((line) => line.includes(token))).toEqual([]);
  });
});
