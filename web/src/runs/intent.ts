/** What the form asks for, and the Intent.v0 that it becomes. Pure. */
import type { Intent } from "@antiphon/contracts";

export interface IntentFields {
  readonly goal: string;
  readonly repo: string;
  readonly agent: "command" | "scripted";
  /** For `command`: a program with its arguments, in the words of a shell. For `scripted`: one command a line. */
  readonly does: string;
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
  checks: "",
  landOn: "",
  approvals: 0,
};

export function intentOf(fields: IntentFields): Intent {
  const { goal, repo, agent, does, checks, landOn, approvals } = fields;
  const commands = linesOf(checks);
  return {
    goal: goal.trim(),
    inputs: {
      repo: repo.trim(),
      agent:
        agent === "command"
          ? { kind: "command", argv: ["sh", "-c", does.trim()] }
          : { kind: "scripted", commands: linesOf(does) },
      ...(commands.length === 0 ? {} : { checks: commands }),
      ...(landOn.trim() === "" ? {} : { land_on: landOn.trim() }),
    },
    constraints: approvals === 0 ? {} : { approvals: { needed: approvals } },
  };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
