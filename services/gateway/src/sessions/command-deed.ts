// Describes a session's command as a deed for the policy. Pure.
import { durationMs } from "@antiphon/contracts";
import type { Command, CommandName, SessionWorkspace } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { PastCommand } from "./command-policy.ts";
import { IDLE } from "../policy/policy.ts";
import type { Deed, KnownChange } from "../policy/policy.ts";
import { changedLines } from "../policy/run-deed.ts";

/** Commands that change what a push would send. */
const CHANGES: readonly CommandName[] = ["CreateBranch", "ApplyPatch", "Commit"];

/** `past`: the commands accepted in this session, oldest first; `workspace`: what those that are completed have made. */
export function commandDeed(
  command: Command,
  past: readonly PastCommand[],
  workspace: SessionWorkspace | null,
): Deed {
  const deed = { ...IDLE, commands: [command.command], changes: changesOf(command) };
  if (command.command === "TransitionTicket") return { ...deed, ticketState: command.payload.state };
  if (command.command === "CreateBranch")
    return { ...deed, branches: [command.payload.branchName], approved: true };
  if (command.command === "RunTests" || command.command === "BuildProject") {
    const { timeout } = command.payload;
    return { ...deed, timeBudgetS: timeout === undefined ? 0 : Math.ceil(durationMs(timeout) / 1000) };
  }
  if (command.command !== "Push") return deed;
  const since = past.slice(past.findLastIndex((one) => CHANGES.includes(one.command)) + 1);
  const approved = since.some(
    (one) => one.command === "RequestApproval" && one.outcome === "Success" && !one.isStale,
  );
  return { ...deed, branches: [command.payload.branchName], unproven: unproven(past, workspace), approved };
}

/** Tests count for the tree on which they passed, so committing it does not make them obsolete. */
function unproven(past: readonly PastCommand[], workspace: SessionWorkspace | null): string | null {
  if (past.some((one) => CHANGES.includes(one.command) && one.outcome === null))
    return "a command that changes the branch is not completed";
  const isTested = workspace !== null && workspace.tested === workspace.tree;
  return isTested ? null : "no RunTests without a filter has succeeded on the commit";
}

function changesOf(command: Command): KnownChange[] {
  if (command.command === "Commit") {
    const { includePaths: paths } = command.payload;
    return [{ files: paths.length, lines: 0, paths }];
  }
  if (command.command !== "ApplyPatch") return [];
  const files = splitDiff(command.payload.patchContent);
  const lines = files.reduce((sum, { diff }) => sum + changedLines(diff), 0);
  return [{ files: files.length, lines, paths: files.map(({ path }) => path) }];
}
