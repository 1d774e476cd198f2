// Reads the files named by options of `antiphon run`.
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { AGENTS } from "@antiphon/contracts/runs/agents";
import type { PostBody } from "@antiphon/client";
import type { Patch, TaskSpec } from "@antiphon/contracts";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import type { PackChoice } from "@antiphon/contracts/runs/pack-agent";
import type { PackPlaces } from "../agents/pack-places.ts";
import { partsOf } from "../agents/pack-choice.ts";
import { Failure, usage } from "../failure.ts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { RunFiles, RunFlags } from "./run-request.ts";

export async function loadFiles(
  flags: RunFlags,
  places: PackPlaces | null = null,
  fromRun: Patch | null = null,
): Promise<Omit<RunFiles, "plan"> & { readonly recording: PostBody<"/recordings"> | null }> {
  const given = flags.recording === undefined ? null : readJson(flags.recording);
  const seed = (given as { input?: { seed?: unknown } } | null)?.input?.seed;
  const recording = given as PostBody<"/recordings"> | null; // The gateway judges what the file holds.
  return {
    patch: fromRun ?? (flags.patch === undefined ? null : readPatch(flags.patch)),
    ...(await packsNamed(flags, places)),
    ...(await judgeNamed(flags.gateAgent, places)),
    tasks: flags.tasks === undefined ? null : await readTasks(flags.tasks),
    recordingSeed: typeof seed === "string" ? seed : null,
    recording,
  };
}

/** Empty: it is a kind of agent and no pack. @throws Failure ANT_AGENT_UNKNOWN */
async function packsNamed(
  flags: RunFlags,
  places: PackPlaces | null,
): Promise<Pick<RunFiles, "packs" | "choices">> {
  const { agent: names, model, modelHost } = flags;
  if (names === undefined || places === null || Object.hasOwn(AGENTS, names)) return { packs: [] };
  const all = names.split(",").map((name) => name.trim());
  const found = await Promise.all(all.map((name) => chosen(name, places)));
  const isForNone = found.every(([pack, own]) => pack.model === undefined || own.model !== undefined);
  if (all.length > 1 && typeof model === "string" && isForNone)
    throw usage(
      `no agent of ${names} takes --model ${model}: each has a model of its own, or calls none`,
      "name the models with the agents: `--agent pi@small,claude@claude-sonnet-5-5`",
    );
  const [only] = found;
  if (all.length === 1 && only?.[1].model !== undefined && (model ?? modelHost) !== undefined)
    throw usage(`${names} names its model already`, "leave out --model and --model-host");
  return { packs: found.map(([pack]) => pack), choices: new Map(found) };
}

/** A pack as it is named, or with its model and host behind it. @throws Failure ANT_AGENT_UNKNOWN */
export async function chosen(given: string, places: PackPlaces): Promise<[AgentPack, PackChoice]> {
  const { findPack } = await import("../agents/packs.ts");
  const whole = findPack(given, places); // The path of a directory may hold an `@`.
  if (whole !== null) return [whole, {}];
  const { name, model, host } = partsOf(given);
  return [await packNamed(name, places), { model, modelHost: host }];
}

async function judgeNamed(
  name: string | undefined,
  places: PackPlaces | null,
): Promise<Pick<RunFiles, "gatePack" | "gateChoice">> {
  if (name === undefined || places === null) return {};
  const [gatePack, gateChoice] = await chosen(name, places);
  return { gatePack, gateChoice };
}

/** @throws Failure ANT_AGENT_UNKNOWN */
export async function packNamed(name: string, places: PackPlaces): Promise<AgentPack> {
  const { allPacks, findPack } = await import("../agents/packs.ts");
  const pack = findPack(name, places);
  if (pack !== null) return pack;
  if (Object.hasOwn(AGENTS, name))
    throw usage(
      `${name} is a kind of agent; only packs hand over to each other, race or are compared`,
      "`antiphon agents list` shows the packs",
    );
  const known = allPacks(places).map((one) => one.pack.name);
  throw new Failure(
    "ANT_AGENT_UNKNOWN",
    `there is no agent ${JSON.stringify(name)}; there are ${known.join(", ")}`,
    {
      remedy:
        "`antiphon agents list` describes them; any other program is given with --command <cmd> or `-- <program>`.",
    },
  );
}

export function readPatch(file: string): Patch {
  const text = readText(file);
  if (/^\s*\{/.test(text)) return parseJson(text, file) as Patch;
  const files = splitDiff(text);
  if (files.length === 0) {
    throw new Failure("ANT_PATCH_MALFORMED", `${file} contains no unified diff`, { exitCode: 2 });
  }
  return { files };
}

/** Accepts a list of tasks, `{tasks: [...]}`, or a router contract. An agent's `patch` may name a file next to it. */
async function readTasks(file: string): Promise<TaskSpec[]> {
  const text = readText(file);
  const { parse } = await import("./yaml-parser.ts");
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    throw usage(`${file} is not YAML: ${(error as Error).message.split("\n")[0] ?? ""}`);
  }
  const tasks = listIn(document);
  if (tasks === null)
    throw usage(
      `${file} contains no list of tasks`,
      'write "tasks:" and below it "- id: 1, description: ..., dependencies: []"',
    );
  return tasks.map((task) => withPatch(task, dirname(file)));
}

function listIn(document: unknown): Record<string, unknown>[] | null {
  if (Array.isArray(document)) return document as Record<string, unknown>[];
  if (typeof document !== "object" || document === null) return null;
  const holder = document as { tasks?: unknown; router_contract?: { tasks?: unknown } };
  const tasks = holder.tasks ?? holder.router_contract?.tasks;
  return Array.isArray(tasks) ? (tasks as Record<string, unknown>[]) : null;
}

function withPatch(task: Record<string, unknown>, dir: string): TaskSpec {
  const { status: _contractState, ...spec } = task;
  const agent = spec.agent as { patch?: unknown } | undefined;
  if (typeof agent?.patch !== "string") return { dependencies: [], ...spec } as unknown as TaskSpec;
  return {
    dependencies: [],
    ...spec,
    agent: { ...agent, patch: readPatch(resolve(dir, agent.patch)) },
  } as unknown as TaskSpec;
}

function readJson(file: string): unknown {
  return parseJson(readText(file), file);
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(`${file} is not JSON: ${(error as Error).message}`);
  }
}

export function readText(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a directory" : message;
    const from = isAbsolute(file) ? "" : `; a relative one starts at ${process.cwd()}`;
    throw usage(`cannot read ${file}: ${why}`, `Check the path${from}.`);
  }
}
