/** What the form asks for, and the Intent.v0 that it becomes. Pure. */
import type { Intent } from "@antiphon/contracts";

export interface IntentFields {
  readonly goal: string;
  /** A change of a repository, or a brief of what the deployment's connectors answer. */
  readonly about: "repository" | "brief";
  readonly repo: string;
  /** Of a brief; empty: all that the deployment has. */
  readonly connector: string;
  /** Of a brief: repositories, one a line. Empty: those of the deployment. */
  readonly projects: string;
  /** Of a brief: words, with commas between them. Empty: everything. */
  readonly topics: string;
  /** `command`, `scripted`, or the name of an agent pack. */
  readonly agent: string;
  /** For `command`: a program with its arguments, in the words of a shell. For `scripted`: one command a line. Packs: unused. */
  readonly does: string;
  /** What the model calls of a pack may cost in all, in USD, as typed. Empty: no model may be called. */
  readonly modelUsd: string;
  /** One command a line. Empty: the repository's own checks. */
  readonly checks: string;
  readonly landOn: string;
  readonly approvals: number;
}

export const NO_FIELDS: IntentFields = {
  goal: "",
  about: "repository",
  repo: "",
  connector: "",
  projects: "",
  topics: "",
  agent: "command",
  does: "",
  modelUsd: "1",
  checks: "",
  landOn: "",
  approvals: 0,
};

/** The kinds of agent that need no pack. */
export const PLAIN_AGENTS = ["command", "scripted"] as const;

export const isPack = (agent: string): boolean => !(PLAIN_AGENTS as readonly string[]).includes(agent);

/** `pack`: the agent as the gateway fills it in, if one is chosen. */
export function intentOf(fields: IntentFields, pack: object | null = null): Intent {
  if (fields.about === "brief") return briefOf(fields, pack);
  const { goal, repo, landOn, approvals, checks } = fields;
  const commands = linesOf(checks);
  return {
    goal: goal.trim(),
    inputs: {
      repo: repo.trim(),
      agent: agentOf(fields, pack),
      ...(commands.length === 0 ? {} : { checks: commands }),
      ...(landOn.trim() === "" ? {} : { land_on: landOn.trim() }),
    },
    constraints: {
      ...(approvals === 0 ? {} : { approvals: { needed: approvals } }),
      ...(pack === null ? {} : paidModel(fields.modelUsd)),
    },
  };
}

/** Without an agent a brief lists everything that was read. */
function briefOf(fields: IntentFields, pack: object | null): Intent {
  const { goal, connector, projects, topics, does, modelUsd } = fields;
  const [places, words] = [linesOf(projects), linesOf(topics.replaceAll(",", "\n"))];
  const inputs: Intent["inputs"] = {
    ...(places.length === 0 ? {} : { projects: places }),
    ...(words.length === 0 ? {} : { topics: words }),
    ...(pack === null && does.trim() === "" ? {} : { agent: agentOf(fields, pack) }),
  };
  const connectors = connector === "" ? {} : { connectors: [connector] };
  const constraints = pack === null ? {} : { ...paidModel(modelUsd) };
  return { goal: goal.trim(), ...connectors, inputs, constraints };
}

/** Tells the person why the form cannot be sent yet; null: it can. `pack`: an agent pack is chosen. */
export function lackOf(
  { goal, about, repo, agent, does, modelUsd }: IntentFields,
  pack: boolean,
): string | null {
  if (goal.trim() === "") return "A run needs a goal.";
  if (about === "repository" && repo.trim() === "") return "A run needs a repository.";
  if (pack && !(Number(modelUsd) >= 0))
    return `${JSON.stringify(modelUsd.trim())} is no amount in USD: write it like 0.50.`;
  if (about === "brief" || pack || does.trim() !== "") return null;
  return agent === "command" ? "A run needs a program." : "A run needs a command.";
}

function agentOf({ agent, does }: IntentFields, pack: object | null): object {
  if (pack !== null) return pack;
  if (agent === "command") return { kind: "command", argv: ["sh", "-c", does.trim()] };
  return { kind: "scripted", commands: linesOf(does) };
}

/** The way to the model, and to nothing else, for a run that pays for it. */
function paidModel(modelUsd: string): object {
  const usdMicro = Math.round(Number(modelUsd) * 1_000_000);
  if (!(usdMicro > 0)) return {};
  return { model_budget: { usd_micro: usdMicro }, egress: { mode: "allowlist", allowlist: [] } };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
