import { expect, test } from "vitest";
import type { RunLine } from "../api/run-record.ts";
import { titleOf, untold, waitingIn } from "./waiting-runs.ts";

const run = (runId: string, status: RunLine["status"]): RunLine => ({ runId, status }) as RunLine;

test("only runs that wait for a person count, and the title tells how many", () => {
  const waiting = waitingIn([run("a", "waiting_input"), run("b", "running"), run("c", "waiting_input")]);
  expect(waiting.map(({ runId }) => runId)).toEqual(["a", "c"]);
  expect([titleOf(waiting.length), titleOf(0)]).toEqual(["(2) Antiphon", "Antiphon"]);
});

test("a person is told of each run once, and not of those that waited when the page was opened", () => {
  const [old, fresh] = [run("a", "waiting_input"), run("b", "waiting_input")];
  expect(untold(null, [old])).toEqual([]);
  expect(untold(new Set(["a"]), [old, fresh])).toEqual([fresh]);
  expect(untold(new Set(["a", "b"]), [old, fresh])).toEqual([]);
});

test("a run that went on and waits again is told again", () => {
  expect(untold(new Set(), [run("a", "waiting_input")])).toHaveLength(1);
});
