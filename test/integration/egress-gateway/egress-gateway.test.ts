/**
 * Network egress end to end: a real container without a network, the supervisor's frames, the runner, the gateway, and
 * real servers.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS } from "@antiphon/contracts";
import { openKv } from "@antiphon/runtime";
import { until } from "../../support/docker.ts";
import { DIRECT_PROBES, PROBE_RUNNER, proxyProbes } from "../../support/egress-probes.ts";
import {
  CANARY,
  egressWorld,
  GIT_AND_PACKAGES,
  grantOf,
  type EgressWorld,
} from "../../support/egress-world.ts";
import { NAMES } from "../../support/egress-upstreams.ts";
import { rawGit } from "../../support/repo.ts";

let world: EgressWorld;
beforeAll(async () => {
  world = await egressWorld("egress");
  mkdirSync(world.gitRoot, { recursive: true });
  rawGit(world.gitRoot, "init", "-q", "--bare", "-b", "main", "project.git");
  const work = join(world.gitRoot, "work");
  rawGit(world.gitRoot, "init", "-q", "-b", "main", work);
  rawGit(work, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  rawGit(work, "push", "-q", join(world.gitRoot, "project.git"), "main");
});
afterAll(() => world.close());

interface Ask {
  readonly url: string;
  readonly method?: string;
  readonly body?: string;
  readonly upgrade?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function formsOfCanary(): string[] {
  const bytes = Buffer.from(CANARY);
  return [
    CANARY,
    bytes.toString("base64").replace(/=+$/, ""),
    bytes.toString("hex"),
    [...bytes].map((byte) => `%${byte.toString(16)}`).join(""),
    [...bytes].map((byte) => `\\u00${byte.toString(16)}`).join(""),
    [...CANARY].reverse().join(""),
  ];
}

/** A program that sends the requests in turn and prints a line for each: status and body. */
function asks(...list: readonly (Ask | string)[]): string {
  const items = list.map((one) => (typeof one === "string" ? { url: one } : one));
  return `python3 - <<'PY'
import json, urllib.request, urllib.error
for ask in json.loads(${JSON.stringify(JSON.stringify(items))}):
    body = ask["body"].encode() if "body" in ask else None
    more = {**({"upgrade": ask["upgrade"]} if "upgrade" in ask else {}), **ask.get("headers", {})}
    r = urllib.request.Request(ask["url"], data=body, method=ask.get("method"), headers={"content-type": "application/json", "authorization": "Bearer none", **more})
    try:
        with urllib.request.urlopen(r, timeout=20) as a: print(a.status, a.read(2000).decode().replace(chr(10), " "), flush=True)
    except urllib.error.HTTPError as e: print(e.code, e.read().decode().strip(), flush=True)
    except Exception as e: print("error", e, flush=True)
PY
`;
}

describe("a sandbox with git+pkg", () => {
  it("egress-gateway/E1: fetches with git and cannot push, and the log shows both", async () => {
    const { out, log, outcome } = await world.run(
      GIT_AND_PACKAGES,
      `cd /tmp && git clone -q https://${NAMES.git}/project.git p && cd p && git log --format=%s &&
       git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine && git push -q origin main; echo push: $?`,
    );
    expect(out).toContain("first\n");
    expect(out).toMatch(/push: (1|128)/);
    expect(out).toMatch(/403|ANT_EGRESS_METHOD/);
    const seen = log.map(({ method, rule, decision }) => `${decision} ${method} ${rule}`);
    expect(seen).toEqual([
      "allow GET git:fetch",
      "allow POST git:fetch",
      "allow POST git:fetch",
      "refuse GET git:push",
    ]);
    expect(rawGit(join(world.gitRoot, "project.git"), "log", "--format=%s", "main").trim()).toBe("first");
    expect(outcome.egress).toMatchObject({ requests: 4, refused: 1 });
  });

  it("downloads a package, and cannot publish one", async () => {
    const base = `https://${NAMES.packages}`;
    const { out } = await world.run(
      GIT_AND_PACKAGES,
      asks(
        `${base}/left-pad`,
        `${base}/left-pad/-/left-pad-1.0.0.tgz`,
        { url: `${base}/left-pad`, method: "PUT", body: "{}" },
        { url: `${base}/legacy/`, method: "POST", body: "x" },
        { url: `${base}/left-pad/-rev/1`, method: "DELETE" },
      ),
    );
    const lines = out
      .trim()
      .split("\n")
      .filter((line) => line !== "");
    expect(lines.map((line) => line.slice(0, 3))).toEqual(["200", "200", "403", "403", "403"]);
    expect(lines[2]).toContain("ANT_EGRESS_METHOD");
    expect(
      world.upstreams.heard.filter(({ host, method }) => host === NAMES.packages && method !== "GET"),
    ).toEqual([]);
  });
});

describe("ways past the gateway", () => {
  it("egress-gateway/E6: are blocked and logged, each by its rule, and none reaches an upstream", async () => {
    const probes = proxyProbes(NAMES.echo, NAMES.other, NAMES.git);
    const grant = grantOf([NAMES.echo, NAMES.git]);
    const before = world.upstreams.heard.length;
    const step = {
      id: "step",
      argv: ["python3", "-c", PROBE_RUNNER],
      env: {},
      stdin: JSON.stringify(probes),
      timeoutMs: 80_000,
      continueOnFailure: true,
    };
    const { outcome, log } = await world.run(grant, "", { steps: [step] });
    const [ran] = outcome.steps;
    const blob = ran?.stdout.blob ?? null;
    const printed = blob === null ? "" : (await world.blobs.get(blob)).toString("utf8");
    const answers = printed
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string);
    expect(answers).toHaveLength(probes.length);
    const holes = probes.flatMap((probe, i) => {
      const answer = answers[i] ?? "";
      const blocked =
        probe.code === undefined ? !answer.includes("HTTP/1.1 200 OK") : answer.includes(probe.code);
      return blocked ? [] : [`${probe.name}: ${answer.slice(0, 200)}`];
    });
    expect(holes).toEqual([]);
    expect(world.upstreams.heard.slice(before)).toEqual([]);
    expect(log.filter(({ decision }) => decision === "allow")).toEqual([]);
    const recorded = log.filter(({ decision }) => decision === "refuse").length;
    expect(recorded).toBeGreaterThanOrEqual(probes.length);
    console.log(
      `proxy bypass: ${probes.length} tried, ${probes.length - holes.length} blocked, ${recorded} recorded`,
    );
  });

  it("do not exist around it either: there is no other network", async () => {
    const program = DIRECT_PROBES.map(
      ([name, python]) => `try:\n    ${python}\n    print(${JSON.stringify(name)})\nexcept OSError: pass`,
    ).join("\n");
    const { out } = await world.run(grantOf([NAMES.echo]), `python3 - <<'PY'\nimport socket\n${program}\nPY`);
    expect(out).toBe("");
    console.log(`around the proxy: ${DIRECT_PROBES.length} tried, ${DIRECT_PROBES.length} blocked`);
  });

  it("do not include a redirect: its target is checked anew", async () => {
    const { out, log } = await world.run(grantOf([NAMES.echo]), asks(`https://${NAMES.echo}/redirect`));
    expect(out).toMatch(/403|ANT_EGRESS_HOST/);
    expect(log.map(({ host, decision }) => `${decision} ${host}`)).toEqual([
      `allow ${NAMES.echo}`,
      `refuse ${NAMES.other}`,
    ]);
  });
});

describe("credentials", () => {
  it("egress-gateway/E2: are usable by a sandbox, and are found neither inside it nor in logs, blobs, records or evidence", async () => {
    const search = `
python3 - <<'PY'
import os, glob
needle = b"canary-" + b"4f1c9e7ab2d84c55"
def look(path):
    try:
        with open(path, "rb") as f:
            while True:
                piece = f.read(1 << 20)
                if not piece: return
                if needle in piece: print("FOUND", path)
    except OSError: pass
for root in ["/workspace", "/tmp", "/etc", "/dev/shm", "/run", "/var", "/home", "/root"]:
    for d, _, names in os.walk(root):
        for n in names: look(os.path.join(d, n))
me = str(os.getpid())
for p in os.listdir("/proc"):
    if not p.isdigit(): continue
    for n in ["environ", "cmdline"]: look(f"/proc/{p}/{n}")
    if p == me: continue
    try:
        maps = open(f"/proc/{p}/maps").read().splitlines()
        mem = open(f"/proc/{p}/mem", "rb")
        for line in maps:
            a, b = [int(x, 16) for x in line.split()[0].split("-")]
            try:
                mem.seek(a)
                if needle in mem.read(b - a): print("FOUND memory", p)
            except (OSError, ValueError, OverflowError): pass
    except OSError: pass
print("searched")
PY`;
    const { out, outcome } = await world.run(
      grantOf([NAMES.echo]),
      `env > /tmp/env; (${asks(`https://${NAMES.echo}/hello?key=value`)}) | tee /tmp/answer; sleep 60 & ${search}`,
    );
    const heard = world.upstreams.heard.at(-1);
    expect(heard?.headers.authorization).toBe(`Bearer ${CANARY}`); // the credential was used
    expect(out).toContain("*".repeat(CANARY.length)); // and its echo was masked
    expect(out).toContain("searched");
    expect(out).not.toContain("FOUND");
    const texts = [JSON.stringify(outcome), ...world.logged, ...everythingStored(world)];
    for (const form of [CANARY, Buffer.from(CANARY).toString("base64")]) {
      expect(texts.filter((text) => text.includes(form)).map((text) => text.slice(0, 200))).toEqual([]);
    }
    console.log(`canary: ${texts.length} documents, log lines and objects searched, 0 hits`);
  });

  it("egress-gateway/E2: go to their own host only, and never in the clear", async () => {
    await world.run(
      grantOf([NAMES.other, NAMES.echo]),
      asks(`https://${NAMES.other}/`, `http://${NAMES.echo}/`),
    );
    const heard = world.upstreams.heard.slice(-2);
    expect(heard.map(({ headers }) => headers.authorization)).toEqual(["Bearer none", "Bearer none"]);
  });

  it("have the encoded answers of their host refused, since these cannot be masked", async () => {
    const { out } = await world.run(grantOf([NAMES.echo]), asks(`https://${NAMES.echo}/encoded`));
    expect(out).toContain("ANT_EGRESS_UPSTREAM");
  });
});

describe("answers of a host with a credential", () => {
  it("egress-gateway/E2: are masked in other forms, and in the names of headers", async () => {
    const { out } = await world.run(grantOf([NAMES.echo]), asks(`https://${NAMES.echo}/forms`));
    expect(out).toContain("200 ");
    for (const form of formsOfCanary()) expect(out).not.toContain(form);
    expect(out.split("*").length).toBeGreaterThan(100);
  });

  it("egress-gateway/E2: come whole, or not at all", async () => {
    const headers = { range: "bytes=0-3", "if-range": "x", "x-http-method-override": "DELETE" };
    const { out } = await world.run(
      grantOf([NAMES.echo]),
      asks({ url: `https://${NAMES.echo}/hello`, headers }, `https://${NAMES.echo}/part`),
    );
    expect(out).toContain("200 ");
    expect(out).toMatch(/502 .*sent a part of a document/);
    for (const name of Object.keys(headers))
      expect(world.upstreams.heard.at(-2)?.headers).not.toHaveProperty(name);
  });
});

describe("model calls", () => {
  const ask = (host: string, path: string, body: object): Ask => ({
    url: `https://${host}${path}`,
    method: "POST",
    body: JSON.stringify(body),
  });
  const chat = (content: string, more: object = {}): Ask =>
    ask(NAMES.openai, "/v1/chat/completions", {
      model: "m-1",
      messages: [{ role: "user", content }],
      ...more,
    });
  const budget = { tokens: 1_000_000 };
  const grant = grantOf(["unused.example.test"], budget);
  const asRun = (run: string) => ({ run });

  it("are metered and recorded in both shapes, streamed and whole", async () => {
    const { out, log, outcome } = await world.run(
      grant,
      asks(
        chat("hi"),
        chat("hi", { stream: true }),
        ask(NAMES.openai, "/v1/responses", { model: "m-1", input: "hi", max_output_tokens: 20 }),
        ask(NAMES.openai, "/v1/responses", { model: "m-1", input: "hi", stream: true }),
        ask(NAMES.anthropic, "/v1/messages", {
          model: "a-1",
          max_tokens: 50,
          messages: [{ role: "user", content: "hi" }],
        }),
        ask(NAMES.anthropic, "/v1/messages", {
          model: "a-1",
          max_tokens: 50,
          stream: true,
          messages: [{ role: "user", content: "hi" }],
        }),
      ),
      asRun("run_shapes"),
    );
    expect(out.match(/hello/g)).toHaveLength(6);
    expect(log.map(({ rule, model }) => [rule, model?.charged_tokens])).toEqual([
      ["model:chat", 15],
      ["model:chat", 15],
      ["model:responses", 15],
      ["model:responses", 15],
      ["model:messages", 136],
      ["model:messages", 136],
    ]);
    expect(outcome.egress).toMatchObject({ model_calls: 6, model_tokens: 332 });
    const account = await openKv(world.bus, BUCKETS.budgets).get<{ used: object; reserved: object }>(
      "run_shapes",
    );
    expect(account?.value).toMatchObject({
      used: { tokens: 332, usd_micro: outcome.egress?.model_usd_micro },
      reserved: { tokens: 0, usd_micro: 0 },
    });
    const recordings = await Promise.all(
      (outcome.egress?.recordings ?? []).map((ref) => world.blobs.get(ref)),
    );
    expect(recordings).toHaveLength(6);
    const first = JSON.parse(recordings[0]?.toString("utf8") ?? "{}") as {
      request: { body: object };
      response: { text: string };
    };
    expect(first.request.body).toMatchObject({ model: "m-1", messages: [{ role: "user", content: "hi" }] });
    expect(first.response.text).toContain("hello");
    expect(
      world.upstreams.heard.filter(({ host }) => host === NAMES.openai).at(-1)?.headers.authorization,
    ).toBe(`Bearer ${CANARY}`);
  });

  it("do not leave without a budget, a price and a bound", async () => {
    const before = world.upstreams.heard.length;
    const none = await world.run(grantOf([NAMES.openai]), asks(chat("hi")));
    expect(none.out).toContain("ANT_EGRESS_BUDGET");
    const { log } = await world.run(
      grant,
      asks(
        chat("hi", { model: "unknown" }),
        chat("hi", { n: 1000 }),
        ask(NAMES.openai, "/v1/chat/completions", {
          model: "m-1",
          messages: [
            { role: "user", content: [{ type: "image_url", image_url: { url: "https://x.test/a.png" } }] },
          ],
        }),
        ask(NAMES.openai, "/v1/embeddings", { model: "m-1", input: "x" }),
        { url: `https://${NAMES.openai}/v1/responses`, method: "GET", upgrade: "websocket" },
      ),
      asRun("run_refused"),
    );
    expect(log.map(({ code }) => code)).toEqual([
      ...Array.from({ length: 3 }, () => "ANT_EGRESS_MODEL"),
      ...Array.from({ length: 2 }, () => "ANT_EGRESS_METHOD"),
    ]);
    expect(log.at(-1)).toMatchObject({ rule: "model:websocket", status: 426 });
    expect(world.upstreams.heard.length).toBe(before);
  });

  it("are refused over a WebSocket at once, with a line in the evidence of the attempt and no charge", async () => {
    const before = world.upstreams.heard.length;
    const handshake = [
      ...["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"],
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ].flatMap((header) => ["-H", `'${header}'`]);
    const { out, log, outcome } = await world.run(
      grant,
      `curl -s --http1.1 -i -m 20 ${handshake.join(" ")} https://${NAMES.openai}/v1/responses`,
      asRun("run_websocket"),
    );
    expect(out).toContain("HTTP/1.1 426 ANT_EGRESS_METHOD");
    expect(log).toMatchObject([
      { method: "GET", decision: "refuse", rule: "model:websocket", code: "ANT_EGRESS_METHOD", status: 426 },
    ]);
    expect(outcome.egress).toMatchObject({ requests: 1, refused: 1, model_calls: 0, model_usd_micro: 0 });
    expect(world.upstreams.heard.length).toBe(before);
  });

  it("leave without what would cost extra, with a bound that the budget pays for, and with what is new", async () => {
    const { out, log } = await world.run(
      grantOf(["unused.example.test"], { tokens: 4_000 }),
      asks(
        { url: `https://${NAMES.anthropic}/`, method: "HEAD" },
        ask(NAMES.anthropic, "/v1/messages?beta=true&key=placeholder", {
          model: "a-1",
          max_tokens: 1_000_000,
          messages: [{ role: "user", content: "hi" }],
          tools: [{ type: "web_search_20250305", name: "web_search" }],
          some_new_field: 1,
        }),
      ),
      asRun("run_bounded"),
    );
    expect(out).toContain("hello");
    expect(log.map(({ rule }) => rule)).toEqual(["model:alive", "model:messages"]);
    expect(log[1]?.model).toMatchObject({
      removed: ["tool web_search_20250305"],
      unknown: ["some_new_field"],
    });
    const heard = world.upstreams.heard.at(-1);
    const sent = JSON.parse(heard?.body ?? "{}") as { max_tokens: number };
    expect(heard?.url).toBe("/v1/messages?beta=true");
    expect(sent).not.toHaveProperty("tools");
    expect(sent.max_tokens).toBeLessThan(4_000 - 2_048);
  });

  it("cost nothing when the provider failed before it answered", async () => {
    const { log, outcome } = await world.run(grant, asks(chat("break")), asRun("run_broken"));
    expect(log[0]).toMatchObject({ status: 503, model: { charged_tokens: 0 } });
    expect(outcome.egress).toMatchObject({ model_calls: 1, model_tokens: 0 });
  });

  it("that the budget does not pay for are named in the report", async () => {
    const { outcome } = await world.run(
      grantOf(["unused.example.test"], { tokens: 10 }),
      asks(chat("hi")),
      asRun("run_spent"),
    );
    expect(outcome.egress).toMatchObject({ budget_spent: true, model_calls: 0 });
  });

  it("egress-gateway/E4: share one budget across concurrent sandboxes and a gateway's restart, and never exceed it", async () => {
    const small = grantOf(["unused.example.test"], { tokens: 9_000 });
    const loop = asks(...Array.from({ length: 4 }, () => chat("silent"))); // no usage: charged in full
    const run = "run_shared";
    const first = await Promise.all([world.run(small, loop, { run }), world.run(small, loop, { run })]);
    await world.restartEgress();
    const second = await world.run(small, loop, { run });
    const all = [...first, second].flatMap(({ log }) => log);
    const charged = all.reduce((sum, { model }) => sum + (model?.charged_tokens ?? 0), 0);
    expect(charged).toBeLessThanOrEqual(9_000);
    expect(charged).toBeGreaterThan(9_000 - 2 * 2_400);
    expect(second.log.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => "ANT_EGRESS_BUDGET"));
    const account = await openKv(world.bus, BUCKETS.budgets).get<{ used: { tokens: number } }>(run);
    expect(account?.value.used.tokens).toBe(charged);
  });

  it("cost nothing when the provider refused them", async () => {
    const { log } = await world.run(grant, asks(chat("fail")), asRun("run_failed"));
    expect(log[0]).toMatchObject({ status: 400, model: { charged_tokens: 0 } });
  });

  it("egress-gateway/E2: have the echo of a credential masked in the answer and in the recording", async () => {
    const { out, outcome } = await world.run(grant, asks(chat("echo")), asRun("run_echo"));
    expect(out).toContain("*".repeat(CANARY.length));
    expect(out).not.toContain(CANARY);
    const [ref] = outcome.egress?.recordings ?? [];
    expect(ref === undefined ? "" : (await world.blobs.get(ref)).toString("utf8")).not.toContain(CANARY);
  });
});

describe("a job that asks for a network", () => {
  it("fails with ANT_EGRESS_UNAVAILABLE when no gateway answers, and runs no step", async () => {
    await world.services.egress.stop();
    const { outcome } = await world.run(GIT_AND_PACKAGES, "echo ran");
    expect(outcome).toMatchObject({ outcome: "error", code: "ANT_EGRESS_UNAVAILABLE", steps: [] });
    await world.restartEgress();
  });

  it("fails with ANT_EGRESS_LOST when the gateway stops during the job", async () => {
    const running = world.run(grantOf([NAMES.echo]), `${asks(`https://${NAMES.echo}/mark`)}sleep 6`);
    await until(
      () => Promise.resolve(world.upstreams.heard.at(-1)?.url),
      (url) => url === "/mark",
      20_000,
    );
    await world.services.egress.stop();
    expect((await running).outcome).toMatchObject({ outcome: "error", code: "ANT_EGRESS_LOST" });
    await world.restartEgress();
  });

  it("is refused when its purpose is to verify", async () => {
    const { outcome } = await world.run(GIT_AND_PACKAGES, "echo ran", { purpose: "verify" });
    expect(outcome).toMatchObject({ outcome: "refused", code: "ANT_SANDBOX_REFUSED" });
  });

  it("has neither a network nor a proxy where its profile is `none`", async () => {
    const none = { profile: { mode: "none" as const, allowlist: [] }, model_budget: null };
    for (const grant of [none, null]) {
      const { out, outcome } = await world.run(
        grant,
        `env | grep -ci proxy; python3 -c 'import socket; print(socket.socket().connect_ex(("127.0.0.1", 3128)))'`,
      );
      expect(out).toBe("0\n111\n");
      expect(outcome.egress).toBeUndefined();
    }
  });

  it("has TLS passed through to a tunnel host when CONNECT and SNI agree", async () => {
    const insecure = (name: string): string => `python3 - <<'PY'
import socket, ssl
s = socket.create_connection(("127.0.0.1", 3128)); s.sendall(b"CONNECT ${NAMES.pinned}:443 HTTP/1.1\\r\\nHost: ${NAMES.pinned}:443\\r\\n\\r\\n")
print(s.recv(4096).split(b"\\r\\n")[0].decode())
c = ssl.create_default_context(); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
try:
    t = c.wrap_socket(s, server_hostname="${name}"); t.sendall(b"GET /x HTTP/1.1\\r\\nHost: ${NAMES.pinned}\\r\\nConnection: close\\r\\n\\r\\n")
    print(t.recv(4096).split(b"\\r\\n")[0].decode())
except Exception as e: print("closed")
PY`;
    const { out, log } = await world.run(
      grantOf([NAMES.pinned]),
      [insecure(NAMES.pinned), insecure(NAMES.other)].join("\n"),
    );
    expect(
      out
        .trim()
        .split("\n")
        .filter((line) => !line.includes("established")),
    ).toEqual(["HTTP/1.1 200 OK", "closed"]);
    expect(log.map(({ decision, rule }) => `${decision} ${rule}`).sort()).toEqual([
      "allow tunnel",
      "refuse tunnel:name",
    ]);
  });
});

/** The files of the NATS server's store: records, documents and blobs. */
function everythingStored({ nats }: EgressWorld): string[] {
  return readdirSync(join(nats.dir, "store"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}
