// Findings about the container engine, its runtimes and the sandbox image.
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { CliConfig } from "../config.ts";
import { bytes } from "../screen/table.ts";
import { off, ok, problem, QUERY_MS, SETUP, type Finding } from "./finding.ts";
import { layerFinding } from "./layer-finding.ts";
import { runtimeFindings } from "./runtime-findings.ts";
import { swapFinding } from "./swap-finding.ts";

export async function dockerEngine(config: CliConfig): Promise<Finding> {
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

export async function image(config: CliConfig, engineAnswers: boolean): Promise<Finding> {
  const ref = config.sandboxImage ?? readImageRef(config.stateDir);
  if (ref === null) return problem("image", "no sandbox image was built", SETUP);
  if (!engineAnswers) return off("image", `${ref}, not checked: no engine answers`, "see docker above");
  const answer = await dockerGet(config, `/images/${encodeURIComponent(ref)}/json`);
  if (answer.status !== 200) return problem("image", `${ref} is not present in the engine`, SETUP);
  const { Id, Size } = JSON.parse(answer.body) as { Id: string; Size: number };
  return ok("image", `${ref} (${Id.slice(0, 19)}, ${bytes(Size)})`);
}

export async function engineFindings(config: CliConfig): Promise<Finding[]> {
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
    const call = request({ ...target, path, timeout: QUERY_MS }, (response) => {
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
