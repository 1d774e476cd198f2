import type { AgentSpec, PlannedTask } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { agentOfAttempt } from "./agent-of-attempt.ts";

const command = (name: string): AgentSpec => ({ kind: "command", argv: [name] });
const agents = { agent: command("a"), next_agents: [command("b"), command("c")] };
const task = (rejections: number, agent = command("a"), kind = "edit_repo") => ({
  rejections,
  planned: { agent, task: { kind } } as PlannedTask,
});

test("each rejection hands a task over to the next agent, and the last one keeps it", () => {
  const names = [0, 1, 2, 3, 9].map((rejections) => agentOfAttempt(task(rejections), agents));
  expect(names).toEqual(["a", "b", "c", "c", "c"].map(command));
  expect(agentOfAttempt(task(2), { agent: command("a") })).toEqual(command("a"));
});

test("a task with an agent of its own keeps it", () => {
  expect(agentOfAttempt(task(1, command("own")), agents)).toEqual(command("own"));
});

test("a git task is handed over to no agent, also if its place holder is the agent of the run", () => {
  expect(agentOfAttempt(task(1, command("a"), "git"), agents)).toEqual(command("a"));
});

test("a skill that judges keeps its agent, also if that is the agent of the run", () => {
  const { planned } = task(0);
  const gate = { skill: "reviewer" as const, of: "T-001", blocks: "error" as const };
  expect(agentOfAttempt({ rejections: 2, planned: { ...planned, gate } }, agents)).toEqual(command("a"));
});
