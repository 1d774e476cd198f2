// Builds an Intent.v0 from the options of `antiphon run`. The table of run options says which flag is which part of the
// intent. Pure: the caller reads the files.
import { AGENT_KINDS, AGENTS } from "@antiphon/contracts/runs/agents";
import type { AgentKind } from "@antiphon/contracts/runs/agents";
import { RUN_OPTION_NAMES, RUN_OPTIONS } from "@antiphon/contracts/runs/run-options";
import type { Flag } from "@antiphon/contracts/runs/run-flag";
import { packAgent, type PackChoice } from "@antiphon/contracts/runs/pack-agent";
import type { AgentPack } from "@antiphon/contracts/settings/agent-pack";
import type { AgentSpec, Intent, Patch, TaskSpec } from "@antiphon/contracts";
import { choiceOf } from "../agents/pack-choice.ts";
import { usage } from "../failure.ts";

/** What commander read: the flags of the table of run options, by commander's name of each, and the ones used by name. */
export interface RunFlags {
  readonly repo?: string;
  readonly agent?: string;
  readonly patch?: string;
  readonly tasks?: string;
  readonly plan?: string;
  readonly recording?: string;
  readonly gateAgent?: string;
  readonly connector?: readonly string[];
  readonly project?: readonly string[];
  readonly topic?: readonly string[];
  readonly [flag: string]: unknown;
}

/** The parsed content of the named files. */
export interface RunFiles {
  readonly patch: Patch | null;
  /** The packs that --agent names, in the order in which a task is handed over. */
  readonly packs: readonly AgentPack[];
  /** The models and hosts that --agent names with them. */
  readonly choices?: ReadonlyMap<AgentPack, PackChoice>;
  readonly tasks: TaskSpec[] | null;
  /** The pack that --gate-agent names. */
  readonly gatePack?: AgentPack;
  /** The model and the host that it names with it. */
  readonly gateChoice?: PackChoice;
  /** As the intent takes it, and its tasks. */
  readonly plan: { readonly value: unknown; readonly tasks: readonly TaskSpec[] } | null;
  readonly recordingSeed: string | null;
}

type Fields = Record<string, unknown>;

/** Whether the run reads connectors instead of a repository. */
export function readsConnectors({ connector, project, topic }: RunFlags): boolean {
  return connector !== undefined || project !== undefined || topic !== undefined;
}

/** `repoPath`: of a run that reads connectors, the project that it is about if none is named; null: those of the deployment. */
export function intentOf(goal: string, repoPath: string | null, flags: RunFlags, files: RunFiles): Intent {
  const { connector } = flags;
  const intent = {
    goal,
    inputs: readsConnectors(flags) ? sourcesOf(repoPath, flags, files) : workOf(repoPath ?? "", flags, files),
    constraints: {} as Fields,
    ...(connector === undefined ? {} : { connectors: [...connector] }),
  };
  for (const name of RUN_OPTION_NAMES) {
    const { place, flags: rows, implied } = RUN_OPTIONS[name];
    if (name === "agent" || place === null) continue;
    const value = optionOf(rows, implied, flags, files);
    if (value !== undefined) intent[place][name] = value;
  }
  if (files.plan !== null) intent.inputs["plan"] = files.plan.value;
  if (files.packs.length > 1)
    intent.inputs["next_agents"] = files.packs
      .slice(1)
      .map((pack) => packAgent(pack, choiceOf(pack, files.choices?.get(pack), flags)));
  return intent;
}

function workOf(repoPath: string, flags: RunFlags, files: RunFiles): Fields {
  const repo = { name: repoPath.split("/").filter(Boolean).at(-1) ?? repoPath, path: repoPath };
  return { repo, agent: agentOf(flags, files) };
}

/** Without an agent the gateway gives the run one that lists everything that was read. */
function sourcesOf(repoPath: string | null, flags: RunFlags, files: RunFiles): Fields {
  const { project = repoPath === null ? [] : [repoPath], topic } = flags;
  const isNamed = files.packs.length > 0 || flags.agent !== undefined || impliedAgent(flags) !== null;
  return {
    ...(isNamed ? { agent: agentOf(flags, files) } : {}),
    ...(project.length === 0 ? {} : { projects: [...project] }),
    ...(topic === undefined ? {} : { topics: [...topic] }),
  };
}

/** An option of one flag, or an object whose fields have flags; undefined: none of its flags was given. */
function optionOf(rows: readonly Flag[], implied: object, flags: RunFlags, files: RunFiles): unknown {
  const [only] = rows;
  if (only === undefined) return undefined;
  if (only.field === null) return valueOf(only, flags, files);
  const fields = fieldsOf(rows, flags, files);
  return Object.keys(fields).length === 0 ? undefined : { ...implied, ...fields };
}

function fieldsOf(rows: readonly Flag[], flags: RunFlags, files: RunFiles): Fields {
  const fields: Fields = {};
  for (const row of rows) {
    const value = valueOf(row, flags, files);
    if (row.field !== null && value !== undefined) fields[row.field] ??= value;
  }
  return fields;
}

type Reader = (given: unknown, flag: string, files: RunFiles, unit: string) => unknown;

const asGiven: Reader = (given) => given;
const READERS: { readonly [R in Flag["reads"]]: Reader } = {
  text: asGiven,
  texts: (given) => (given === false ? [] : given), // False: --no-...
  list: (given) =>
    String(given)
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  pairs: (given, flag) => pairsOf(flag, given as readonly string[]),
  switch: asGiven,
  off: asGiven,
  never: (given) => (given === false ? false : undefined), // Commander says true if it is not given.
  word: (given) => String(given).toUpperCase(),
  number: (given, flag, _files, unit) => wholeNumber(flag, String(given), unit),
  count: (given, flag) => (given === true ? 1 : wholeNumber(flag, String(given), "")),
  usd: (given, flag) => usdMicro(flag, String(given)),
  argv: (given) => (Array.isArray(given) && given.length > 0 ? given : undefined),
  patch: (_file, _flag, { patch }) => patch ?? undefined,
  tasks: (_file, _flag, { tasks }) => tasks ?? undefined,
  plan: () => undefined, // `inputs.plan`, from which the gateway makes the tasks.
  recording: (_file, _flag, { recordingSeed }) => recordingSeed ?? undefined,
  "gate-agent": (_name, _flag, { gatePack, gateChoice }) =>
    gatePack === undefined ? undefined : packAgent(gatePack, gateChoice),
};

function valueOf({ flag, reads }: Flag, flags: RunFlags, files: RunFiles): unknown {
  const given = flags[keyOf(reads === "never" ? flag.replace("--no-", "--") : flag)];
  return given === undefined ? undefined : READERS[reads](given, longOf(flag), files, unitOf(flag));
}

/** `--time-budget <seconds>`: `--time-budget`. */
function longOf(flag: string): string {
  return flag.split(" ", 1)[0] ?? flag;
}

/** `--time-budget <seconds>`: ` of seconds`; of a bare number: nothing. */
function unitOf(flag: string): string {
  const [, unit = "n"] = /<(\w+)>/.exec(flag) ?? [];
  return unit === "n" ? "" : ` of ${unit}`;
}

/** `--time-budget <seconds>`: `timeBudget`, as commander calls it. */
function keyOf(flag: string): string {
  return longOf(flag)
    .slice(2)
    .replace(/-./g, ([, letter = ""]) => letter.toUpperCase());
}

/** A patch or a command beside a coding agent would be passed over in silence. @throws Failure ANT_USAGE */
function requireNoOtherWork({ name }: AgentPack, flags: RunFlags): void {
  const given = (["scripted", "command"] as const)
    .flatMap((kind) => AGENTS[kind].flags)
    .find(({ flag }) => flags[keyOf(flag)] !== undefined);
  if (given === undefined) return;
  const option = longOf(given.flag);
  throw usage(
    `--agent ${name} makes the change, so ${option} would not be used`,
    `leave out ${option} or --agent`,
  );
}

/** The named agent, or the one that the other options imply. */
function agentOf(flags: RunFlags, files: RunFiles): AgentSpec | { kind: string } {
  const [pack, ...others] = files.packs;
  if (pack !== undefined) {
    if (flags["seed"] !== undefined && (others.length > 0 || pack.prompt !== "compile"))
      throw usage(
        "--seed is about an agent that compiles, or about a recorded session",
        "leave out --seed, or leave out --agent",
      );
    requireNoOtherWork(pack, flags);
    return packAgent(pack, {
      ...choiceOf(pack, files.choices?.get(pack), flags),
      seed: asText(flags["seed"]),
    });
  }
  const kind = flags.agent ?? impliedAgent(flags);
  if (kind === null) {
    // Tasks from a file name their own agents; the run's agent is then only the fallback.
    const ofTask = (files.tasks ?? files.plan?.tasks)?.find((task) => task.agent !== undefined)?.agent;
    if (ofTask !== undefined) return ofTask;
    throw usage(
      "nothing says who does the work",
      "Name a coding agent with --agent (`antiphon agents list`), or give --command <cmd>, --patch <file or run> or `-- <program>`.",
    );
  }
  // The gateway refuses an unknown agent and lists the known ones.
  if (!Object.hasOwn(AGENTS, kind)) return { kind };
  if (kind === "pack")
    throw usage(
      "--model and --model-host belong to an agent pack",
      "name one with --agent: `antiphon agents list`",
    );
  const { flags: rows } = AGENTS[kind as AgentKind];
  const fields = fieldsOf(rows, flags, files);
  if (rows.length > 0 && Object.keys(fields).length === 0)
    throw usage(
      `--agent ${kind} needs ${rows.map(({ flag }) => longOf(flag)).join(" or ")}`,
      `give ${notations(rows)}`,
    );
  return { kind, ...fields };
}

function asText(given: unknown): string | undefined {
  return typeof given === "string" ? given : undefined;
}

function notations(rows: readonly Flag[]): string {
  return rows.map(({ flag }) => flag).join(" or ");
}

function impliedAgent(flags: RunFlags): string | null {
  const implied = AGENT_KINDS.filter((kind) =>
    AGENTS[kind].flags.some(({ flag }) => flags[keyOf(flag)] !== undefined),
  );
  if (implied.length > 1)
    throw usage(`the options belong to different agents: ${implied.join(", ")}`, "choose one with --agent");
  return implied[0] ?? null;
}

function usdMicro(flag: string, text: string): number {
  if (!/^\d{1,4}(\.\d{1,6})?$/.test(text))
    throw usage(`${flag} takes an amount, not ${JSON.stringify(text)}`);
  return Math.round(Number(text) * 1_000_000);
}

function pairsOf(flag: string, given: readonly string[]): Fields {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw usage(`${flag} takes name=value, not ${JSON.stringify(pair)}`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function wholeNumber(flag: string, text: string, unit: string): number {
  if (!/^\d+$/.test(text))
    throw usage(
      `${flag} takes a whole number${unit}, not ${JSON.stringify(text)}`,
      "antiphon run --help shows how",
    );
  return Number(text);
}
