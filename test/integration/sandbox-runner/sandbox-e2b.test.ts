/** The e2b provider: the real SDK against a stand-in of the service, whose machines are containers (support/e2b). */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { inspect } from "node:util";
import { connect, createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type SandboxEvent, type SandboxRequest } from "@antiphon/contracts";
import { openBlobs, sandboxClient } from "@antiphon/runtime";
import { E2bProvider, openE2bHost } from "../../../services/sandbox-runner/src/providers/e2b/e2b-provider.ts";
import { sandboxConformance } from "../../../services/sandbox-runner/src/testing/conformance.ts";
import { sandboxImage, shell, SMALL, until } from "../../support/docker.ts";
import { startE2bStandIn, type E2bStandIn } from "../../support/e2b/service.ts";
import { startNats } from "../../support/nats.ts";
import { builtProgram } from "../../support/built-program.ts";

const HOLDER = new URL("../../support/e2b/holder-process.ts", import.meta.url);
const ANTIPHON = fileURLToPath(new URL("../../../bin/antiphon.mjs", import.meta.url));
const OVER = { kind: "canceled", reason: "test over" } as const;
let service: E2bStandIn;
let provider: E2bProvider;

beforeAll(async () => {
  service = await startE2bStandIn(sandboxImage());
  provider = new E2bProvider({ template: service.template, access: accessTo(service) });
});
afterAll(() => service.close());

function accessTo({ apiKey, url }: E2bStandIn) {
  return { apiKey, domain: null, apiUrl: url, sandboxUrl: url };
}

const order = () => ({ imageId: service.template, limits: SMALL, labels: { instance: "test" } });
const left = async (): Promise<string[]> => [...service.running(), ...(await service.containers())];

sandboxConformance("e2b", {
  provider: () => provider,
  order: (limits) => Promise.resolve({ ...order(), limits: { ...SMALL, ...limits } }),
  leftovers: left,
});

describe("e2b", () => {
  afterEach(async () => {
    service.says = (facts) => facts;
    expect(await until(left, (found) => found.length === 0, 5_000)).toEqual([]);
  });

  it("reports as enforced the limits that a machine's kernel was seen to enforce", async () => {
    const fresh = new E2bProvider({ template: service.template, access: accessTo(service) });
    expect(fresh.enforces).toEqual({ memory: false, processes: false });
    await (await fresh.start(order())).destroy(OVER);
    expect(fresh.enforces).toEqual({ memory: true, processes: true });
  });

  it("contains nothing that leads to the terminal of its frames", async () => {
    const sandbox = await provider.start(order());
    try {
      const look = [
        "cut -d' ' -f1,4,6,7 /proc/1/stat; ls /proc | grep -cE '^[0-9]+$'; ls -d /dev/pts /dev/console 2>&1 | grep -c 'No such'",
        "for f in /dev/tty /proc/1/fd/0 /proc/1/fd/1 /proc/self/fd/../../1/fd/2; do (echo 'x 000000001' > $f) 2>/dev/null && echo wrote $f; done",
        "cut -d' ' -f7 /proc/self/stat; ps -e -o tty= | sort -u",
      ];
      const said = await sandbox.run(shell(look.join("; ")));
      const [pid1 = "", processes, absent, ...rest] = String(said.stdout.bytes).trim().split("\n");
      expect(pid1).toBe("1 0 1 0"); // PID 1, without a parent inside, in a session of its own, without a terminal
      expect(Number(processes)).toBeLessThanOrEqual(4); // the supervisor, sh, ls, grep: no launcher
      expect(absent).toBe("2");
      expect(rest.map((line) => line.trim())).toEqual(["0", "?"]);
      expect(String((await sandbox.run(shell("echo on"))).stdout.bytes)).toBe("on\n");
    } finally {
      await sandbox.destroy(OVER);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ["does not mention internet access", { allowInternetAccess: null }],
    ["reports that it allows internet access", { allowInternetAccess: true }],
    ["lets it reach a host", { network: { allowOut: ["example.com"] } }],
    ["would pause it", { lifecycle: { onTimeout: "pause", autoResume: false } }],
    ["mixes it up with another", { metadata: {} }],
  ])("refuses a machine before its first command when the service %s", async (_what, change) => {
    service.asked.length = 0;
    service.says = (facts) => ({ ...facts, ...change });
    await expect(provider.start(order())).rejects.toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    const [created] = service.asked;
    expect(JSON.parse(created?.body ?? "{}")).toMatchObject({ allow_internet_access: false });
    expect(
      service.asked.filter(({ path }) => path.startsWith("/process") || path.startsWith("/files")),
    ).toEqual([]);
  });

  it("ends a killed holder's machine within its lease time", async () => {
    const words = [service.url, service.apiKey, service.template, "2000"];
    const holder = spawn(process.execPath, [await builtProgram(HOLDER), ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = (await once(holder.stdout, "data")) as [Buffer];
    expect(service.running()).toEqual([String(said).trim()]);
    const renewals = () => service.asked.filter(({ path }) => path.endsWith("/timeout")).length;
    const before = renewals();
    expect(
      await until(
        () => Promise.resolve(renewals()),
        (now) => now > before + 5,
        8_000,
      ),
    ).toBeGreaterThan(before + 5);
    expect(service.running()).toHaveLength(1); // past its first lease, so it was renewed
    holder.kill("SIGKILL");
    expect(await until(left, (found) => found.length === 0, 8_000)).toEqual([]);
  });

  it("ends a sandbox with a named reason when the service loses its machine", async () => {
    const sandbox = await provider.start(order());
    const running = sandbox.run(shell("sleep 60")).catch((error: unknown) => error);
    await service.loseMachines();
    expect(await running).toMatchObject({ death: { kind: "gone" } });
    await sandbox.gone;
  });

  it("sends the key to no machine, leaves it in none, and puts it in no error", async () => {
    service.asked.length = 0;
    const sandbox = await provider.start(order());
    const search =
      "cat > /tmp/key; (env; cat /proc/*/environ /proc/*/cmdline) 2>/dev/null | grep -caF -f /tmp/key; " +
      "grep -rslF -f /tmp/key / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=tmp; true";
    const exit = await sandbox.run(shell(search, { stdin: Buffer.from("sk-decoy") }));
    expect(String(exit.stdout.bytes)).toBe("0\n");
    const found = await sandbox.run(
      shell(search, { stdin: Buffer.from(service.apiKey), env: { PATH: "/usr/bin:/bin" } }),
    );
    expect(String(found.stdout.bytes)).toBe("0\n");
    await sandbox.destroy(OVER);
    const beforeSearch = service.asked.filter(({ path }) => !path.endsWith("SendInput"));
    expect(beforeSearch.length).toBeGreaterThan(3);
    expect(JSON.stringify(beforeSearch)).not.toContain(service.apiKey);
    const apiKey = "e2b_wrong";
    const stolen = new E2bProvider({ template: service.template, access: { ...accessTo(service), apiKey } });
    const failure = await stolen.start(order()).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ code: "ANT_SANDBOX_PROVIDER" });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(apiKey);
  });

  it("reports a missing or wrong key, a missing template and an unreachable service before a job is taken", async () => {
    const open = (change: object, template = service.template) =>
      openE2bHost({ template, access: { ...accessTo(service), ...change } }, order());
    await expect(open({ apiKey: null })).rejects.toMatchObject({
      code: "ANT_SANDBOX_PROVIDER",
      message: expect.stringContaining("E2B_API_KEY") as string,
    });
    await expect(open({ apiKey: "e2b_wrong" })).rejects.toMatchObject({ code: "ANT_SANDBOX_PROVIDER" });
    await expect(open({}, "no-such")).rejects.toMatchObject({ code: "ANT_SANDBOX_IMAGE_MISSING" });
    await expect(open({ apiUrl: "http://127.0.0.1:9" })).rejects.toMatchObject({
      code: "ANT_SANDBOX_FAILED",
    });
  });

  it("carries connections to a listener outside, with no network of its own", async () => {
    const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const sandbox = await provider.start(order());
    try {
      expect(
        await sandbox.network(3128, () => connect((server.address() as AddressInfo).port, "127.0.0.1")),
      ).toBeNull();
      const script = `exec 3<>/dev/tcp/127.0.0.1/3128; echo through >&3; head -n 1 <&3; (exec 4<>/dev/tcp/192.0.2.1/80) 2>/dev/null || echo no way out`;
      const exit = await sandbox.run(shell("", { argv: ["bash", "-c", script] }));
      expect(String(exit.stdout.bytes)).toBe("through\nno way out\n");
    } finally {
      await sandbox.destroy(OVER);
      server.close();
    }
  });

  it("runs a job in a production runner: the outcome names e2b, and the key is in no record and no log line", async () => {
    const nats = await startNats();
    const directory = mkdtempSync(join(tmpdir(), "antiphon-e2b-"));
    const runner = spawn(process.execPath, [ANTIPHON, "serve", "--role", "sandbox-runner"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        ANTIPHON_NATS_URL: nats.url,
        ANTIPHON_UNSAFE_TRUST: "1",
        ANTIPHON_STATE_DIR: directory,
        ANTIPHON_SANDBOX_PROVIDER: "e2b",
        ANTIPHON_SANDBOX_IMAGE: service.template,
        ANTIPHON_SANDBOX_WARM: "1",
        E2B_API_KEY: service.apiKey,
        E2B_API_URL: service.url,
        E2B_SANDBOX_URL: service.url,
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const lines: string[] = [];
    runner.stderr.on("data", (bytes: Buffer) => void lines.push(String(bytes)));
    const logged = () => Promise.resolve(lines.join(""));
    expect(await until(logged, (text) => text.includes("sandboxes available"), 60_000)).toContain(
      '"provider":"e2b"',
    );
    const bus = await nats.connect();
    try {
      const step = {
        id: "s",
        argv: ["sh", "-c", "echo $0 in $(pwd); env; echo made > made"],
        env: {},
        timeoutMs: 20_000,
        continueOnFailure: false,
      };
      const request: SandboxRequest = {
        jobId: `job_e2b_${process.pid}`,
        run: "run_eeeeeeeeeeeeeeeeeeee",
        task: "T-001",
        epoch: 1,
        purpose: "verify",
        image: null,
        budgetMs: 30_000,
        workspace: { tree: null, files: [], overlay: null, deletions: [] },
        steps: [step],
        collect: true,
      };
      const events: SandboxEvent[] = [];
      const outcome = await sandboxClient(bus, { requester: "test" }).run(request, {
        signal: new AbortController().signal,
        onEvent: (event) => void events.push(event),
      });
      expect(outcome).toMatchObject({ outcome: "completed", code: null, meta: { provider: "e2b" } });
      const kept = await Promise.all(
        [outcome.changes?.overlay, outcome.steps[0]?.stdout.blob].map(async (ref) =>
          ref == null ? "" : String(await openBlobs(bus, ref.bucket).get(ref.name)),
        ),
      );
      expect(kept).toEqual([expect.stringContaining("made"), expect.stringContaining("/workspace")]);
      for (const text of [...kept, ...lines, JSON.stringify([outcome, events])])
        expect(text).not.toContain(service.apiKey);
    } finally {
      runner.kill("SIGTERM");
      await once(runner, "exit");
      await nats.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
