/** What the form asks for, and the Intent.v0 that it becomes. Pure. */
import type { Intent } from "@antiphon/contracts";

export interface IntentFields {
  readonly goal: string;
  readonly repo: string;
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
  repo: "",
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
