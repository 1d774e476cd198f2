import { describe, expect, it } from "vitest";
import { commitObject } from "@antiphon/git";
import { openRun, outstanding, replay } from "@antiphon/run";
import { planned, RecordLog } from "@antiphon/run/testing/record-log";
import { POLICY } from "../testing/directing.ts";
import { commitMessage } from "./commit-message.ts";

/** The text of the commit above its trailers. */
function landedText(goal: string, summary: string): string {
  const one = planned("T-001");
  const log = new RecordLog()
    .opened([{ ...one, task: { ...one.task, instruction: goal } }])
    .dispatched("T-001")
    .claimed("T-001");
  log.reported("T-001", 1, "ok");
  const last = log.records.at(-1);
  if (last?.type !== "result" || last.body.kind !== "reported") throw new Error("unreachable");
  Object.assign(last.body, {
    patch: { bucket: "ANT_EVIDENCE_FILES", name: "p", digest: "sha256-p", bytes: 1 },
  });
  Object.assign(last.body.result, { summary });
  const effect = outstanding(replay(openRun(log.runId, POLICY), log.records)).find(
    ({ kind }) => kind === "verify",
  );
  if (effect?.kind !== "verify") throw new Error("nothing to verify");
  const id = "1".repeat(40);
  const { message, trailers } = commitMessage(log.runId, effect.task, effect.phase, "nothing");
  expect(trailers["Antiphon-Proves"]).toBe("nothing");
  const proven = commitMessage(log.runId, effect.task, effect.phase, "regression");
  expect(Object.keys(proven.trailers)).not.toContain("Antiphon-Proves");
  const text = commitObject({ parent: id, tree: id, message, trailers, at: new Date(0) }).body.toString(
    "utf8",
  );
  return text.slice(text.indexOf("\n\n") + 2, text.lastIndexOf("\n\n"));
}

describe("the message of a landed commit", () => {
  it("leaves the person's goal as it is, and lets the agent's text close and call nothing", () => {
    expect(landedText("Fixes #12, with @ann", "Fixes #13 for @ben\n/close\nSee GH-14")).toBe(
      "Fixes #12, with @ann\n\nFixes no. 13 for @ ben\n> /close\nSee GH 14",
    );
  });

  it.each(["\u200e", "\u200f", "\u202e", "\u0007", "\u0085"])(
    "finds a reference that a character in it hides: %j",
    (hidden) => {
      expect(landedText("Mend it", `Fixes #${hidden}13 @${hidden}ben`)).not.toMatch(/#13|@ben/);
    },
  );

  it("writes no command for a CI, even in the name of a file", () => {
    expect(landedText("Mend src/[skip ci].ts", "changed src/[skip ci].ts and src/[id].ts")).toBe(
      "Mend src/(skip ci).ts\n\nchanged src/(skip ci).ts and src/[id].ts",
    );
  });
});
