// The checks of `antiphon doctor`. Each queries the real component; none changes anything.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { ROLES } from "@antiphon/contracts/roles";
import { authorization } from "../config.ts";
import type { CliConfig } from "../config.ts";
import { gatewayAddress } from "../gateway/local-gateway.ts";
import { greeting, isFree } from "../dev/loopback-port.ts";
import { http } from "../gateway/http-exchange.ts";
import { findNatsServer } from "../dev/nats-binary.ts";
import { gatewayProblem } from "./gateway-finding.ts";
import { layerFinding } from "./layer-finding.ts";
import { swapFinding } from "./swap-finding.ts";
import { providerStates } from "./sandbox-providers.ts";
import { runtimeFindings } from "./runtime-findings.ts";
import { bytes } from "../screen/table.ts";

export interface Finding {
  readonly name: string;
  /** off: not running, which is not a fault. */
  readonly state: "ok" | "off" | "problem";
  readonly detail: string;
  readonly remedy: string | null;
}

const SETUP = "antiphon setup";
const TIMEOUT_MS = 3_000;

export async function diagnose(config: CliConfig): Promise<Finding[]> {
  const docker = await dockerEngine(config);
  return [
    node(),
    await git(),
    nats(config),
    ...(config.sandboxProvider === "docker"
      ? [docker, await image(config, docker.state === "ok")]
      : [{ ...docker, state: docker.state === "ok" ? ("ok" as const) : ("off" as const) }]),
    ...(await providers(config)),
    ...(await engineFindings(config)),
    disk(config.stateDir),
    ...(await gatewayAndPorts(config)),
  ];
}

/** The chosen provider must work; the others are listed for information. */
async function providers(config: CliConfig): Promise<Finding[]> {
  return (await providerStates(config)).map(({ name, missing, detail, remedy }) => {
    if (missing === null) return ok(name, detail);
    const said = `unavailable: ${missing}`;
    return config.sandboxProvider === name ? problem(name, said, remedy) : off(name, said, remedy);
  });
}

function ok(name: string, detail: string): Finding {
  return { name, state: "ok", detail, remedy: null };
}

function off(name: string, detail: string, remedy: string): Finding {
  return { name, state: "off", detail, remedy };
}

function problem(name: string, detail: string, remedy: string): Finding {
  return { name, state: "problem", detail, remedy };
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  return fits
    ? ok("node", process.versions.node)
    : problem("node", `${process.versions.node} is too old`, "install Node 20.19 or newer");
}

async function git(): Promise<Finding> {
  const version = /(\d+\.\d+(\.\d+)?)/.exec(await output("git", ["--version"]))?.[1];
  if (version === undefined)
    return problem("git", "not found", "install git, for example: apt-get install git");
  return ok("git", version);
}

function nats(config: CliConfig): Finding {
  const binary = findNatsServer(config);
  if (binary.kind === "missing")
    return problem("nats-server", "not found", `${SETUP}, or set NATS_SERVER_BIN`);
  if (binary.kind === "too_old")
    return problem("nats-server", `${binary.version} at ${binary.path} is older than 2.15`, SETUP);
  return ok("nats-server", `${binary.version} at ${binary.path}`);
}

async function dockerEngine(config: CliConfig): Promise<Finding> {
  const answer = await dockerGet(config, "/version");
  if (answer.status === 200) {
    const { Version, ApiVersion } = JSON.parse(answer.body) as { Version?: string; ApiVersion?: string };
    return ok("docker", `engine ${Version ?? "?"}, API ${ApiVersion ?? "?"} at ${config.dockerHost}`);
  }
  const remedy =
    answer.body === "EACCES"
      ? "add yourself to the docker group, or run as root"
      : `${SETUP}, or start the engine, or set DOCKER_HOST`;
  return problem(
    "docker",
    `no engine answers at ${config.dockerHost}${answer.body === "" ? "" : ` (${answer.body})`}`,
    remedy,
  );
}

async function image(config: CliConfig, engineAnswers: boolean): Promise<Finding> {
  const ref = config.sandboxImage ?? readImageRef(config.stateDir);
  if (ref === null) return problem("image", "no sandbox image was built", SETUP);
  if (!engineAnswers) return off("image", `${ref}, not checked: no engine answers`, "see docker above");
  const answer = await dockerGet(config, `/images/${encodeURIComponent(ref)}/json`);
  if (answer.status !== 200) return problem("image", `${ref} is not present in the engine`, SETUP);
  const { Id, Size } = JSON.parse(answer.body) as { Id: string; Size: number };
  return ok("image", `${ref} (${Id.slice(0, 19)}, ${bytes(Size)})`);
}

async function engineFindings(config: CliConfig): Promise<Finding[]> {
  const { sandboxProvider, sandboxRuntime, sandboxSwapMib } = config;
  const findings = (info: unknown): Finding[] => [
    layerFinding(info, sandboxProvider, sandboxRuntime),
    swapFinding(info, sandboxProvider, sandboxRuntime, sandboxSwapMib),
  ];
  if (sandboxProvider !== "docker") return findings(null);
  const { status, body } = await dockerGet(config, "/info");
  const info: unknown = status === 200 ? JSON.parse(body) : null;
  return [...runtimeFindings(info, { PATH: config.path }, sandboxRuntime), ...findings(info)];
}

function readImageRef(stateDir: string): string | null {
  try {
    const { ref, id } = JSON.parse(readFileSync(join(stateDir, "image.json"), "utf8")) as {
      ref?: string;
      id?: string;
    };
    return ref ?? id ?? null;
  } catch {
    return null; // Not built yet.
  }
}

function disk(stateDir: string): Finding {
  let place = stateDir;
  while (!existsSync(place)) place = dirname(place); // Before the first set-up there is no such directory.
  const { bavail, bsize, blocks } = statfsSync(place);
  const free = bavail * bsize;
  const percent = Math.round((bavail / blocks) * 100);
  const detail = `${bytes(free)} free (${percent} %)`;
  return percent < 20
    ? problem("disk", `${detail}; below 20 % no run is accepted`, "free some disk space")
    : ok("disk", detail);
}

async function gatewayAndPorts(config: CliConfig): Promise<Finding[]> {
  const headers = authorization(config.token);
  const gatewayUrl = gatewayAddress(config);
  const asked = { method: "GET", headers, timeoutMs: TIMEOUT_MS };
  const answer = await http.exchange(`${gatewayUrl}/services`, asked).catch(() => null);
  const services = answer?.status === 200 ? servicesIn(answer.body.toString()) : null;
  if (services !== null) {
    const names = services.map(({ name }) => name).sort();
    const missing = ROLES.filter((role) => !names.includes(role));
    const gateway = ok("gateway", gatewayUrl);
    const users = natsUsers(services);
    if (missing.length === 0) return [gateway, ok("services", names.join(", ")), users];
    return [
      gateway,
      users,
      problem("services", `missing: ${missing.join(", ")}`, `antiphon serve --role ${missing[0] ?? ""}`),
    ];
  }
  if (answer !== null) return [gatewayProblem(gatewayUrl, answer.status, answer.body.toString())];
  const gateway = off("gateway", `nothing answers at ${gatewayUrl}`, "antiphon dev starts everything");
  return [gateway, await port(3001, "gateway", "--port"), await port(4222, "nats-server", "--nats-port")];
}

/** One user for all is permitted, but then whoever has its token may do everything on NATS. */
function natsUsers(services: readonly Present[]): Finding {
  const shared = services.filter(({ natsUser }) => natsUser === "shared").map(({ name }) => name);
  if (shared.length === 0) return ok("NATS users", "each service has its own");
  const detail = `${[...new Set(shared)].sort().join(", ")} may do everything on NATS`;
  return off("NATS users", detail, "antiphon nats bootstrap creates a user for each service");
}

interface Present {
  readonly name: string;
  readonly natsUser?: string;
}

/** Null: the answer is not from a gateway. */
function servicesIn(text: string): Present[] | null {
  try {
    const { services } = JSON.parse(text) as { services?: Present[] };
    return Array.isArray(services) ? services : null;
  } catch {
    return null; // A page of another program.
  }
}

async function port(number: number, what: string, flag: string): Promise<Finding> {
  if (await isFree(number)) return ok(`port ${number}`, `free for the ${what} of antiphon dev`);
  const holder = (await greeting(number, 300))?.startsWith("INFO ") ? "a nats-server" : "another program";
  return problem(
    `port ${number}`,
    `taken by ${holder}; antiphon dev needs it for the ${what}`,
    `stop it, or: antiphon dev ${flag} 0`,
  );
}

function output(command: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: TIMEOUT_MS }, (error, stdout) =>
      resolve(error === null ? stdout : ""),
    );
  });
}

/** One GET to the engine, over its socket or TCP. Without an answer: status 0 and the error's code as body. */
function dockerGet(config: CliConfig, path: string): Promise<{ status: number; body: string }> {
  const host = config.dockerHost;
  const target = host.startsWith("unix://")
    ? { socketPath: host.slice("unix://".length) }
    : {
        host: new URL(host.replace(/^tcp:/, "http:")).hostname,
        port: new URL(host.replace(/^tcp:/, "http:")).port || 2375,
      };
  return new Promise((resolve) => {
    const call = request({ ...target, path, timeout: TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    call.once("timeout", () => call.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
    call.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, body: error.code ?? error.message }),
    );
    call.end();
  });
}
