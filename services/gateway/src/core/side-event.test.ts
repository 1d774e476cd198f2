import type { RunStep, RunViewModel } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { inputBody, sideEventOf, waitingStep } from "./side-event.ts";

const step = (id: string, phase: RunStep["phase"]): RunStep => ({
  id,
  title: id,
  kind: "edit_repo",
  status: "open",
  phase,
  epoch: 2,
  attempts: 1,
  deps: [],
  verdict: null,
  code: null,
  message: null,
  commit: null,
  questions: [],
  associate: null,
});
const view = (...steps: RunStep[]): RunViewModel => ({
  runId: "run_1",
  status: "waiting_input",
  steps,
  artifacts: [],
});

describe("what people say to a run", () => {
  it("is an approval as in the seed, an answer, or a cancel", () => {
    expect(sideEventOf({ event: "approval", choice: "approve" })).toEqual({
      kind: "input",
      event: "approval",
      choice: "approve",
      answers: [],
      task: null,
    });
    expect(sideEventOf({ event: "answer", answers: ["blue"], task: "T-002" })).toMatchObject({
      kind: "input",
      answers: ["blue"],
      task: "T-002",
    });
    expect(sideEventOf({ event: "cancel" })).toEqual({ kind: "cancel", reason: "" });
  });

  it.each([
    [undefined, ""],
    [{}, "/event"],
    [{ event: "shout" }, "/event"],
    [{ event: "approval" }, "/choice"],
    [{ event: "answer" }, "/answers"],
    [{ event: "answer", answers: "blue" }, "/answers"],
    [{ event: "answer", answers: [1] }, "/answers/0"],
    [{ event: "cancel", why: "x" }, "/why"],
  ])("is refused as %j with the path %j", (body, path) => {
    expect(() => sideEventOf(body)).toThrow(
      expect.objectContaining({ code: "ANT_CONTRACT_INVALID", data: { path } }),
    );
  });

  it("G4 goes to the one attempt that waits", () => {
    expect(waitingStep(view(step("T-001", "finished"), step("T-002", "waiting_input")), null).id).toBe(
      "T-002",
    );
    expect(
      waitingStep(view(step("T-001", "waiting_input"), step("T-002", "waiting_input")), "t-002").id,
    ).toBe("T-002");
  });

  it("G4 goes nowhere when nobody waits, or when it is not clear who is meant", () => {
    const refused = expect.objectContaining({ code: "ANT_RUN_NOT_WAITING" }) as Error;
    expect(() => waitingStep(view(step("T-001", "claimed")), null)).toThrow(refused);
    expect(() =>
      waitingStep(view(step("T-001", "waiting_input"), step("T-002", "waiting_input")), null),
    ).toThrow(refused);
  });

  it("leaves out a choice that was not made", () => {
    expect(
      inputBody({ kind: "input", event: "answer", choice: null, answers: ["a"], task: null }, "local"),
    ).toEqual({ event: "answer", answers: ["a"], by: "local" });
  });
});
