// The checks of `antiphon doctor`. Each queries the real component; none changes anything.
import { execFile } from "node:child_process";
import type { CliConfig } from "../config.ts";
import { devDirectory } from "../dev/instance.ts";
import { findNatsServer } from "../dev/nats-binary.ts";
import { diskFinding } from "./disk-finding.ts";
import { egressFinding } from "./egress-finding.ts";
import { dockerEngine, engineFindings, image } from "./engine-findings.ts";
import { off, ok, problem, QUERY_MS, SETUP, type Finding } from "./finding.ts";
import { gatewayAndPorts } from "./gateway-findings.ts";
import { gitFinding, nodeFinding } from "./program-findings.ts";
import { providerStates } from "./sandbox-providers.ts";

export async function diagnose(config: CliConfig): Promise<Finding[]> {
  const docker = await dockerEngine(config);
  return [
    nodeFinding(),
    gitFinding(await output("git", ["--version"])),
    nats(config),
    ...(config.sandboxProvider === "docker"
      ? [docker, await image(config, docker.state === "ok")]
      : [{ ...docker, state: docker.state === "ok" ? ("ok" as const) : ("off" as const) }]),
    ...(await providers(config)),
    ...(await engineFindings(config)),
    diskFinding(config.stateDir),
    ...[egressFinding(devDirectory(config.stateDir)) ?? []].flat(),
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

function nats(config: CliConfig): Finding {
  const binary = findNatsServer(config);
  if (binary.kind === "missing")
    return problem("nats-server", "not found", `${SETUP}, or set NATS_SERVER_BIN`);
  if (binary.kind === "too_old")
    return problem("nats-server", `${binary.version} at ${binary.path} is older than 2.15`, SETUP);
  return ok("nats-server", `${binary.version} at ${binary.path}`);
}

function output(command: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: QUERY_MS }, (error, stdout) => resolve(error === null ? stdout : ""));
  });
}
