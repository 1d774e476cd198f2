import { describe, expect, it } from "vitest";
import { sideEventOf } from "./side-event.ts";

const DIGEST = `sha256-${"A".repeat(43)}`;

describe("an event that people send to a run", () => {
  it("is an approval as in the seed, an answer, or a cancel", () => {
    expect(sideEventOf({ event: "approval", choice: "approve" })).toEqual({
      kind: "approval",
      choice: "approve",
      reason: "",
      answers: [],
      task: null,
      verdict: null,
    });
    expect(
      sideEventOf({ event: "approval", choice: "changes", reason: "shorter", verdict: DIGEST }),
    ).toMatchObject({ choice: "changes", reason: "shorter", verdict: DIGEST });
    expect(sideEventOf({ event: "answer", answers: ["blue"], task: "T-002" })).toEqual({
      kind: "answer",
      event: "answer",
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
    [{ event: "approval", choice: "maybe" }, "/choice"],
    [{ event: "approval", choice: "Approve" }, "/choice"],
    [{ event: "approval", choice: "changes" }, "/reason"],
    [{ event: "approval", choice: "changes", reason: "  " }, "/reason"],
    [{ event: "approval", choice: "reject", answers: ["yes"] }, "/answers"],
    [{ event: "answer", answers: ["blue"], choice: "approve" }, "/choice"],
    [{ event: "answer", answers: ["blue"], reason: "x" }, "/reason"],
    [{ event: "answer", answers: ["blue"], verdict: DIGEST }, "/verdict"],
    [{ event: "cancel", choice: "approve" }, "/choice"],
    [{ event: "cancel", answers: ["blue"] }, "/answers"],
    [{ event: "cancel", task: "T-001" }, "/task"],
    [{ event: "approval", choice: "approve", verdict: "this one" }, "/verdict"],
    [{ event: "answer" }, "/answers"],
    [{ event: "answer", answers: "blue" }, "/answers"],
    [{ event: "answer", answers: [1] }, "/answers/0"],
    [{ event: "cancel", why: "x" }, "/why"],
  ])("is refused as %j with the path %j", (body, path) => {
    expect(() => sideEventOf(body)).toThrow(
      expect.objectContaining({ code: "ANT_CONTRACT_INVALID", data: { path } }),
    );
  });
});
