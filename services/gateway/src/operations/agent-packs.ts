/**
 * The agent packs of this deployment, for people who choose one: the files `agent.yaml` in the folders that ANTIPHON_AGENT_PACKS
 * names. A pack that cannot be read is listed with its fault. Whether its model can be called is known by the egress gateway.
 */
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  AntiphonError,
  limits,
  validateDocument,
  type AgentOf,
  type AgentPack,
  type ModelHostView,
} from "@antiphon/contracts";
import { packAgent } from "@antiphon/contracts/runs/pack-agent";
import { completePack } from "@antiphon/contracts/runs/pack-files";

export interface AgentLine {
  readonly name: string;
  readonly description: string;
  /** Packages with their versions; empty: it is part of the image, or installed by commands. */
  readonly packages: readonly string[];
  readonly model: { readonly name: string; readonly host: string } | null;
  readonly state: "ready" | "no key" | "no prices" | "unknown" | "unreadable";
  /** Why it is not ready; null: it is. */
  readonly reason: string | null;
}

const MODEL_NAME = /^[\w./:@-]{1,128}$/;

interface Found {
  readonly name: string;
  readonly pack: AgentPack | null;
  readonly fault: string;
}

/** `hosts` null: no egress gateway answers. Of two packs with one name the first folder's counts. */
export async function agentLines(
  folders: readonly string[],
  hosts: readonly Pick<ModelHostView, "host" | "key" | "reason">[] | null,
): Promise<AgentLine[]> {
  const found = new Map<string, Found>();
  for (const folder of folders)
    for (const one of await packsIn(folder)) if (!found.has(one.name)) found.set(one.name, one);
  return [...found.values()].map((one) => lineOf(one, hosts)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function lineOf(
  { name, pack, fault }: Found,
  hosts: readonly Pick<ModelHostView, "host" | "key" | "reason">[] | null,
): AgentLine {
  if (pack === null)
    return { name, description: "", packages: [], model: null, state: "unreadable", reason: fault };
  const { description = "", install, model } = pack;
  const packages = [...(install?.npm ?? []), ...(install?.pip ?? [])];
  const shown = { name, description, packages };
  if (model === undefined) return { ...shown, model: null, state: "ready", reason: null };
  return { ...shown, model: { name: model.name, host: model.host }, ...stateOf(model.host, hosts) };
}

function stateOf(
  host: string,
  hosts: readonly Pick<ModelHostView, "host" | "key" | "reason">[] | null,
): Pick<AgentLine, "state" | "reason"> {
  if (hosts === null) return { state: "unknown", reason: "no egress gateway answers" };
  const known = hosts.find((one) => one.host === host);
  if (known === undefined) return { state: "no prices", reason: `the egress gateway does not know ${host}` };
  if (known.key !== "missing") return { state: "ready", reason: null };
  return { state: "no key", reason: known.reason ?? `the egress gateway has no key for ${host}` };
}

/**
 * The agent of a run, as an intent takes it, made of a pack with its own files.
 * @throws AntiphonError ANT_AGENT_UNKNOWN, ANT_AGENT_PACK_INVALID, ANT_CONTRACT_INVALID (the name of the model)
 */
export async function agentOfPack(
  folders: readonly string[],
  name: string,
  model: string | undefined,
): Promise<AgentOf<"pack">> {
  if (model !== undefined && !MODEL_NAME.test(model))
    throw new AntiphonError("ANT_CONTRACT_INVALID", "`model` is no name of a model");
  for (const folder of folders) {
    if (!(await namesIn(folder)).includes(name)) continue; // Never a path that somebody else wrote.
    const found = await packAt(join(folder, name));
    if (found === null) continue;
    if (found.pack === null) throw new AntiphonError("ANT_AGENT_PACK_INVALID", `${name}: ${found.fault}`);
    const contents = new Map<string, Buffer>();
    const { files = [], lock, npm_lock } = found.pack.install ?? {};
    for (const file of [...files, lock, npm_lock]) {
      if (file === undefined) continue;
      const content = await readFile(join(folder, name, file)).catch(() => null); // Named as missing below.
      if (content !== null) contents.set(file, content);
    }
    return packAgent(
      completePack(found.pack, (file) => contents.get(file) ?? null),
      { model },
    );
  }
  throw new AntiphonError("ANT_AGENT_UNKNOWN", `this deployment has no agent pack ${JSON.stringify(name)}`);
}

async function packsIn(folder: string): Promise<Found[]> {
  const names = await namesIn(folder);
  return (await Promise.all(names.map((name) => packAt(join(folder, name))))).flatMap((one) => one ?? []);
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []; // No pack was added yet.
    throw new AntiphonError("ANT_CONFIG_INVALID", `${folder} cannot be read`, { cause: error });
  });
  return names.sort().slice(0, limits.agentPacks);
}

/** Null: the folder holds no pack. */
async function packAt(folder: string): Promise<Found | null> {
  const name = basename(folder);
  let text: string;
  try {
    text = await readFile(join(folder, "agent.yaml"), "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR"
      ? null
      : { name, pack: null, fault: `agent.yaml: ${code}` };
  }
  const read = validateDocument(text, { filename: "agent.yaml", schema: "AgentPack" });
  if (read.ok) return { name, pack: read.value as AgentPack, fault: "" };
  const [first] = read.errors;
  return { name, pack: null, fault: `agent.yaml: ${first?.path ?? ""} ${first?.message ?? "is no pack"}` };
}
