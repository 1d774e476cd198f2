// Describes a session's command as a deed for the policy. Pure.
import type { Command, CommandName } from "@antiphon/contracts";
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { PastCommand } from "./command-policy.ts";
import { IDLE } from "../policy/policy.ts";
import type { Deed, KnownChange } from "../policy/policy.ts";
import { changedLines } from "../policy/run-deed.ts";

/** Commands that change the repository, which makes earlier test results obsolete. */
const CHANGES: readonly CommandName[] = ["ApplyPatch", "Commit"];

/** `past`: the commands accepted in this session, oldest first. */
export function commandDeed(command: Command, past: readonly PastCommand[]): Deed {
  const deed = { ...IDLE, commands: [command.command], changes: changesOf(command) };
  if (command.command === "TransitionTicket") return { ...deed, ticketState: command.payload.state };
  if (command.command !== "Push") return deed;
  const since = past.slice(past.findLastIndex((one) => CHANGES.includes(one.command)) + 1);
  const passed = (name: CommandName): boolean =>
    since.some((one) => one.command === name && one.outcome === "Success");
  return {
    ...deed,
    branches: [command.payload.branchName],
    unproven: passed("RunTests") ? null : "no RunTests has succeeded since the last change",
    approved: passed("RequestApproval"),
  };
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
