/**
 * A registry in a private network, with a certificate of the deployment's own authority and a password: what `--setup`
 * downloads from it. The gateway reads its real configuration, the registry is another machine (a container with TLS), and
 * only the name is made up: the lookup of this process answers it.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BUCKETS, type EgressConfig, type EnvironmentSpec } from "@antiphon/contracts";
import { openBlobs } from "@antiphon/runtime";
import { readEgressConfig } from "../../../services/egress-gateway/src/config.ts";
import { canonicalTar } from "../../../services/sandbox-runner/src/workspace/tar-writer.ts";
import { sandboxImage } from "../../support/docker.ts";
import { CANARY, egressWorld, type EgressWorld, type Job } from "../../support/egress-world.ts";
import { eventually } from "../../support/nats.ts";

const HOST = "registry.corp.example.test";
const TREE = "tree-0123456789abcdef.tar";
const BASIC = `Basic ${Buffer.from(`robot:${CANARY}`).toString("base64")}`;
const SERVER = `
import http.server, ssl
class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("heard", self.path, self.headers.get("authorization"), flush=True)
        known = self.headers.get("authorization") == ${JSON.stringify(BASIC)}
        self.send_response(200 if known else 401)
        self.end_headers()
        self.wfile.write(b"a private package" if known else b"who are you?")
server = http.server.HTTPServer(("0.0.0.0", 443), Registry)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/registry/leaf.pem", "/registry/leaf.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print("serves", flush=True)
server.serve_forever()
`;
const { lookup } = dns;
const docker = (...args: string[]): string => execFileSync("docker", args, { encoding: "utf8" }).trim();

let directory: string;
let registry: string;
let config: EgressConfig;
let world: EgressWorld;

/** An authority of the test's own, and a certificate of it for the host. */
function certify(): void {
  const openssl = (...args: string[]): void =>
    void execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(...["req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Our own"]);
  openssl(...["req", ...key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", `/CN=${HOST}`]);
  writeFileSync(join(directory, "names"), `subjectAltName=DNS:${HOST}\n`);
  const of = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names"];
  openssl(...["x509", "-req", "-in", "leaf.csr", ...of, "-out", "leaf.pem"]);
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "antiphon-registry-"));
  config = whole();
  certify();
  writeFileSync(join(directory, "password"), CANARY, { mode: 0o600 });
  writeFileSync(join(directory, "server.py"), SERVER);
  registry = docker(
    "create",
    "--user",
    "0",
    "--entrypoint",
    "python3",
    sandboxImage(),
    "/registry/server.py",
  );
  docker("cp", `${directory}/.`, `${registry}:/registry`);
  docker("start", registry);
  await eventually("the registry", () => docker("logs", registry).includes("serves"));
  const address = docker("inspect", "--format", "{{.NetworkSettings.IPAddress}}", registry);
  const named = (async (host: string, options: { all: true }) =>
    host === HOST ? [{ address, family: 4 }] : lookup(host, options)) as typeof lookup;
  dns.lookup = named;
  syncBuiltinESMExports();
  world = await egressWorld("private-registry", () => {
    const file = join(directory, "egress.json");
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    return readEgressConfig({ ANTIPHON_EGRESS_CONFIG: file });
  });
  const readme = { path: "README.md", mode: "100644" as const, content: Buffer.from("hello\n") };
  await openBlobs(world.bus, BUCKETS.repos).put(TREE, canonicalTar([readme]));
});
afterAll(async () => {
  dns.lookup = lookup;
  syncBuiltinESMExports();
  docker("rm", "--force", registry);
  await world.close();
  await world.engine.removeLayers();
  rmSync(directory, { recursive: true, force: true });
});

/** The part of the configuration that the guide shows. */
const whole = (): EgressConfig => ({
  package_hosts: [HOST],
  private_hosts: [HOST],
  upstream_ca_file: join(directory, "ca.pem"),
  credentials: [{ host: HOST, user: "robot", file: join(directory, "password") }],
});

let serial = 0;
/** Downloads in setup, and prints in the sandbox what was downloaded and all that setup knew. */
async function downloaded(settings: EgressConfig): Promise<Job> {
  config = settings;
  const commands = [
    `mkdir node_modules && cd node_modules && curl -sS -f -D said -o package https://${HOST}/private.tgz`,
    "cd node_modules && env > variables",
  ];
  const environment: EnvironmentSpec = {
    commands,
    inputs: String((serial += 1)).repeat(64),
    decided_by: ["package-lock.json"],
    scope: "repo:test",
    source: { tree: TREE, overlay: null, deletions: [] },
    ...{ tools: [], path: [], variables: {}, found: ["package-lock.json"], packages: null },
  };
  const workspace = { tree: TREE, files: [], overlay: null, deletions: [], environment };
  return world.run(null, "cat node_modules/variables node_modules/said node_modules/package", { workspace });
}

/** The requests of setup, as the gateway has recorded them. */
async function requestsOf({ outcome }: Job): Promise<string> {
  const log = outcome.environment?.egress?.log ?? null;
  return log === null ? "" : (await world.blobs.get(log)).toString("utf8");
}

it("is reached by its name, over TLS of its own authority, with the password that only the gateway knows", async () => {
  const job = await downloaded(whole());
  expect(job.out, JSON.stringify(job.outcome)).toContain("a private package");
  expect(docker("logs", registry)).toContain(`heard /private.tgz ${BASIC}`);
  const requests = await requestsOf(job);
  expect(requests).toContain(`"host":"${HOST}"`);
  for (const secret of [CANARY, BASIC.slice("Basic ".length)])
    for (const told of [job.out, JSON.stringify(job.outcome), requests, world.logged.join("")])
      expect(told).not.toContain(secret);
});

it.each([
  ["its authority is not named", "upstream_ca_file", /ANT_EGRESS_UPSTREAM/],
  ["its private address is not named", "private_hosts", /ANT_EGRESS_ADDRESS/],
  ["it is no package host", "package_hosts", /ANT_EGRESS_HOST/],
  ["its password is not named", "credentials", /"status":401/],
] as const)("refuses the download where %s", async (_what, without, why) => {
  const { [without]: _left, ...rest } = whole();
  const job = await downloaded(rest);
  expect(job.outcome.code).toBe("ANT_ENVIRONMENT_FAILED");
  expect(await requestsOf(job), JSON.stringify(job.outcome)).toMatch(why);
});
