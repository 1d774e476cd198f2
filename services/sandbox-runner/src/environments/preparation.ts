/**
 * Prepares one environment: runs the setup commands in a sandbox of their own, on the source tree, with a network for
 * downloads only, and writes what they made to a file of this machine.
 *
 * Lifecycle: planned -> leased -> filled -> linked -> each command -> packed -> over. The sandbox is released on every path.
 *
 * A fault of the repository (a command that fails, a tool that the image lacks, more than the bounds) ends as a `SetupFault`.
 * Every other error is the machine's fault and says nothing about the repository.
 */
import {
  buildCommandFor,
  limits,
  SANDBOX_HOME,
  type EgressGrant,
  type EgressReport,
  type EnvironmentSpec,
  type SandboxRequest,
} from "@antiphon/contracts";
import { MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { endingOfDeath, endingOfExit } from "../jobs/ending.ts";
import type { JobPorts } from "../jobs/job-ports.ts";
import {
  SandboxDied,
  type CommandExit,
  type ContainerLimits,
  type ImageFacts,
  type Sandbox,
} from "../ports.ts";
import { stepEnvironment } from "../providers/container-spec.ts";
import { Refusal } from "../workspace/refusal.ts";
import { TarReader } from "../workspace/tar-reader.ts";
import { fillWorkspace, planWorkspace, wantedOf } from "../workspace/workspace.ts";
import { setupVariables } from "./environment-variables.ts";
import { LAYER_PLACES, type LayerTop } from "./layer-rules.ts";
import { unpackHome, withRoom, type LayerContent } from "./laying.ts";
import { LayerWriter, type WrittenLayer } from "./layer-writer.ts";
import type { SetupLog } from "./setup-log.ts";
import type { SetupNews } from "./setup-news.ts";

export type PreparationPorts = Pick<
  JobPorts,
  "defaults" | "lease" | "sources" | "egress" | "onOutput" | "later"
>;

export interface Preparation {
  readonly spec: EnvironmentSpec;
  readonly image: ImageFacts;
  /** The job that needs it. */
  readonly request: SandboxRequest;
  /** A new file. */
  readonly path: string;
  readonly log: SetupLog;
  readonly news: SetupNews;
  /** An installed agent, which is there before the commands run; null: none. */
  readonly base: LayerContent | null;
}

export interface Made {
  readonly layer: WrittenLayer;
  /** True: it is that of the installed agent, and no file was written. */
  readonly isBase: boolean;
  readonly egress: EgressReport;
}

export class SetupFault extends Error {
  override readonly name = "SetupFault";
  readonly egress: EgressReport | null;

  constructor(message: string, egress: EgressReport | null = null) {
    super(message);
    this.egress = egress;
  }
}

/** Fetching is all that setup may do; see the egress gateway's rules for these hosts. */
const DOWNLOADS: EgressGrant = { profile: { mode: "git+pkg", allowlist: [] }, model_budget: null };
const STREAMED = { layersOf: () => Promise.resolve(null) };
const TOOL_MS = 60_000;
const PACK_MS = 300_000;
const TAIL_CHARS = 400;
/** Each name of a file becomes a file of its own, where the image's tar can do that. */
const PACK =
  'hard=--hard-dereference; tar $hard --version >/dev/null 2>&1 || hard=; exec tar $hard -cf - -C "$1" .';

export async function prepare(
  preparation: Preparation,
  ports: PreparationPorts,
  signal: AbortSignal,
): Promise<Made> {
  const { spec, image, request } = preparation;
  const container =
    preparation.base === null
      ? setupLimits(ports.defaults)
      : withRoom(setupLimits(ports.defaults), preparation.base);
  const source = { ...spec.source, files: [] };
  // Streamed and not mounted over a layer, because what setup makes is read out as a whole.
  const sources = { ...ports.sources, layering: STREAMED };
  const workspace = await planWorkspace(source, sources, container.workspaceBytes);
  const words = { ...request, purpose: "prepare" as const, budgetMs: limits.environmentBudgetMs };
  const order = { imageId: image.id, limits: container };
  const lease = await ports.lease(order, words, wantedOf(workspace));
  const stop = (): void => void lease.release();
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const { sandbox } = lease;
    await fillWorkspace(lease, workspace, "nothing");
    if (preparation.base !== null) await unpackHome(sandbox, preparation.base);
    const link = await ports.egress(request, DOWNLOADS, sandbox);
    const variables = setupVariables(stepEnvironment(image, SANDBOX_HOME), spec);
    try {
      await requireTools(spec, sandbox, variables);
      await runSetup(preparation, ports, sandbox, { ...variables, ...link.env });
    } catch (error) {
      const egress = await link.close();
      throw faultOf(error, egress);
    }
    const egress = await link.close();
    const { base } = preparation;
    // Its one command has shown that the agent starts here.
    if (base !== null && spec.commands.length === 1)
      return { layer: { ...base, sha256: base.digest }, isBase: true, egress };
    const isTracked = (path: string): boolean => workspace.baseline.has(path);
    const layer = await packed(preparation, sandbox, isTracked).catch((error: unknown) => {
      throw faultOf(error, egress);
    });
    return { layer, isBase: false, egress };
  } finally {
    signal.removeEventListener("abort", stop);
    ports.later(lease.release());
  }
}

/** Room for the tree, for what setup makes, and for what it downloads first. Memory holds them all. */
function setupLimits(defaults: ContainerLimits): ContainerLimits {
  const { environmentBytes } = limits;
  return {
    ...defaults,
    memoryBytes: defaults.memoryBytes + 2 * environmentBytes,
    workspaceBytes: defaults.workspaceBytes + environmentBytes,
    tmpBytes: defaults.tmpBytes + environmentBytes,
    tmpInodes: defaults.tmpInodes + limits.environmentFiles,
  };
}

async function requireTools(
  { tools }: EnvironmentSpec,
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const script = `mkdir -p ${SANDBOX_HOME} && for tool; do command -v "$tool" >/dev/null || echo "$tool"; done`;
  const { exitCode, stdout, stderr } = await tool(sandbox, ["sh", "-c", script, "sh", ...tools], env);
  const missing = stdout.tail.split("\n").filter((line) => line !== "");
  if (missing.length > 0) {
    const command = buildCommandFor(missing);
    const remedy = command === null ? "" : `; \`${command}\` makes one that has`;
    throw new SetupFault(`the image has no ${missing.join(", no ")}${remedy}`);
  }
  if (exitCode !== 0) throw new SetupFault(`${SANDBOX_HOME} cannot be made: ${stderr.tail.trim()}`);
}

function tool(
  sandbox: Sandbox,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandExit> {
  const bounds = { timeoutMs: TOOL_MS, keepBytes: 4096, maxOutputBytes: limits.documentBytes };
  return sandbox.run({ argv, cwd: "/workspace", env, stdin: null, ...bounds });
}

/** The end of an output, without what a JVM says of the proxy's settings. */
function lastWords(text: string): string {
  return text
    .replace(/^Picked up JAVA_TOOL_OPTIONS:.*$/gm, "")
    .trim()
    .slice(-TAIL_CHARS);
}

async function runSetup(
  { spec, log, news }: Preparation,
  { onOutput }: PreparationPorts,
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const endsAt = performance.now() + limits.environmentBudgetMs;
  for (const command of spec.commands) {
    log.command(command);
    news.command(command);
    const exit = await sandbox.run({
      argv: ["sh", "-c", command],
      cwd: "/workspace",
      env,
      stdin: null,
      timeoutMs: Math.max(1, endsAt - performance.now()),
      keepBytes: 4096,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: (stream, piece) => {
        log.push(piece);
        news.push(piece);
        onOutput(stream, piece);
      },
    });
    if (exit.exitCode === 0) continue;
    const limit = endingOfExit(exit, "setup")?.message;
    // Some programs write their errors to standard output, and warnings to the other.
    const said = [exit.stdout.tail, exit.stderr.tail].map((text) => lastWords(text));
    const why = [limit, ...said].filter((part) => part !== undefined && part !== "").join("; ");
    throw new SetupFault(`\`${command}\` exited ${exit.exitCode}${why === "" ? "" : `: ${why}`}`);
  }
}

async function packed(
  { path }: Preparation,
  sandbox: Sandbox,
  isTracked: (path: string) => boolean,
): Promise<WrittenLayer> {
  const { environmentBytes: maxBytes, environmentFiles: maxFiles } = limits;
  const writer = new LayerWriter(path, { maxBytes, maxFiles });
  try {
    for (const top of ["workspace", "home"] as const) {
      const isTrackedHere = top === "workspace" ? isTracked : (): boolean => false;
      await readOut(sandbox, top, writer, isTrackedHere);
    }
    return await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

async function readOut(
  sandbox: Sandbox,
  top: LayerTop,
  writer: LayerWriter,
  isTracked: (path: string) => boolean,
): Promise<void> {
  const reader = new TarReader(writer.sink(top, isTracked));
  const stop = new AbortController();
  let refusal: unknown = null;
  const exit = await sandbox.run({
    argv: ["sh", "-c", PACK, "sh", LAYER_PLACES[top]],
    cwd: "/workspace",
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    stdin: null,
    timeoutMs: PACK_MS,
    signal: stop.signal,
    keepBytes: 4096,
    maxOutputBytes: 4 * limits.environmentBytes,
    onOutput: (stream, piece) => {
      if (stream === "stderr" || refusal !== null) return undefined;
      try {
        reader.push(piece);
      } catch (error) {
        refusal = error;
        stop.abort();
        return undefined;
      }
      return writer.drained();
    },
  });
  if (refusal !== null) throw refusal as Error;
  if (exit.exitCode !== 0) throw new SetupFault(`${top} cannot be read: ${exit.stderr.tail.trim()}`);
  reader.finish();
}

/** A refused download is the likeliest cause of a setup that failed, and no package manager names it. */
function refusals({ refused, requests, first_refused }: EgressReport): string {
  if (refused === 0) return "";
  const first = first_refused === undefined ? "" : `, first ${first_refused}`;
  return `; the egress gateway refused ${refused} of its ${requests} requests${first}`;
}

/** The fault of the repository in an error; any other error is returned as it is. */
function faultOf(error: unknown, egress: EgressReport): unknown {
  if (error instanceof SetupFault) return new SetupFault(`${error.message}${refusals(egress)}`, egress);
  if (error instanceof Refusal) return new SetupFault(error.message, egress);
  if (!(error instanceof SandboxDied)) return error;
  const { kind } = error.death;
  if (kind !== "timeout" && kind !== "oom" && kind !== "output") return error;
  return new SetupFault(`setup: ${endingOfDeath(error.death, null).message}`, egress);
}
