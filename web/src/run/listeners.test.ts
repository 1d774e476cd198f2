import type { AgentSpec } from "@antiphon/contracts";
import { expect, test } from "vitest";
import type { RunRecord } from "../api/run-record.ts";
import { listenersOf } from "./listeners.ts";

const LISTENS: AgentSpec = { kind: "command", argv: ["sh", "-c", "antiphon-inbox --wait"] };
const record = (type: string, taskId: string | null, epoch: number, body: object = {}): RunRecord =>
  ({ type, taskId, epoch, body }) as unknown as RunRecord;
const dispatch = (task: string, epoch = 1, agent: AgentSpec = LISTENS, more: object = {}): RunRecord =>
  record("dispatch", task, epoch, { agent, task: { commands: [] }, ...more });
const message = (n: number, task: string, text: string): RunRecord =>
  record("message", null, n, { task, attempt: 1, by: "ben", text });

test("an attempt listens from its dispatch to its result, with all that its task was told", () => {
  const begun = [dispatch("T-001"), message(1, "T-001", "one"), message(2, "T-002", "other")];
  const told = [{ n: 1, by: "ben", text: "one" }];
  expect(listenersOf(begun)).toEqual([{ taskId: "T-001", epoch: 1, told }]);
  const lost = [...begun, record("result", "T-001", 1)];
  expect(listenersOf(lost)).toEqual([]);
  expect(listenersOf([...lost, dispatch("T-001", 2)])).toEqual([{ taskId: "T-001", epoch: 2, told }]);
});

test("nobody listens in a run that ends, nor an agent that reads nothing, nor a skill that judges", () => {
  for (const end of ["closed", "cancel"])
    expect(listenersOf([dispatch("T-001"), record(end, null, 0)])).toEqual([]);
  expect(listenersOf([dispatch("T-001", 1, { kind: "scripted", commands: ["true"] })])).toEqual([]);
  expect(listenersOf([dispatch("T-001-reviewer", 1, LISTENS, { gate: { task: "T-001" } })])).toEqual([]);
});
