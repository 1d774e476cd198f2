// Maps a command to a run, or to the answer that no adapter exists for it. Pure.
import { durationMs } from "@antiphon/contracts";
import type { ArtifactKind, Command, RepoRef } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";

export type CommandPlan =
  /** An Intent.v0 to run; `artifact` is the kind of its evidence. */
  | { kind: "run"; intent: Record<string, unknown>; artifact: ArtifactKind }
  | { kind: "unavailable"; message: string };

/** `repo`: the session's own repository; a command about another one was refused before. */
export function planCommand(command: Command, repo: RepoRef): CommandPlan {
  switch (command.command) {
    case "ApplyPatch": {
      const { patchContent } = command.payload;
      const patch = { files: splitDiff(patchContent) };
      const inputs = { repo, workflow: "BUILD", agent: { kind: "scripted", patch } };
      return run("Apply the patch of a session", "Diff", inputs);
    }
    case "RunTests": {
      const { filter, timeout } = command.payload;
      if (filter !== undefined)
        return unavailable("a test filter", "the repository's own checks are run as a whole");
      const budget = timeout === undefined ? {} : { time_budget_s: Math.ceil(durationMs(timeout) / 1000) };
      const inputs = { repo, workflow: "REVIEW", agent: { kind: "scripted", commands: [] } };
      return run("Run the tests of a session", "TestResults", inputs, budget);
    }
    case "CreateBranch":
    case "Commit":
    case "Push":
    case "GetDiff":
      return unavailable("a VCS adapter", "a run commits and lands by itself, on antiphon/<runId>");
    case "BuildProject":
      return unavailable("a build adapter", "it is opt-in");
    case "UploadArtifact":
      return unavailable("an artifact adapter", "evidence is collected by runs");
    case "RequestApproval":
      return unavailable("an approver", "a run that needs input asks for it itself");
    case "TransitionTicket":
    case "Comment":
    case "SetAssignee":
    case "QueryBacklog":
    case "QueryWorkItem":
      return unavailable("a work items adapter", "none is configured");
  }
}

function unavailable(what: string, why: string): CommandPlan {
  return { kind: "unavailable", message: `there is no ${what.replace(/^an? /, "")}: ${why}` };
}

function run(
  goal: string,
  artifact: ArtifactKind,
  inputs: Record<string, unknown>,
  constraints: Record<string, unknown> = {},
): CommandPlan {
  return { kind: "run", artifact, intent: { goal, inputs, constraints } };
}
