import { describe, expect, it } from "vitest";
import type { Command, CommandName, PolicyProfile, RateLimits, SessionWorkspace } from "@antiphon/contracts";
import { judgeCommand } from "./command-policy.ts";
import type { PastCommand } from "./command-policy.ts";

const REPO = { name: "app", path: "/srv/app" };
const NOW = Date.parse("2026-11-22T12:00:00Z");
const PROFILE: PolicyProfile = {
  name: "p",
  protectedBranches: ["main"],
  requireTestsBeforePush: false,
  requireApprovalForPush: false,
  allowedWorkItemTransitions: ["in review"],
};

const WORKSPACE: SessionWorkspace = {
  branch: "refs/heads/topic",
  base: "a".repeat(40),
  head: "a".repeat(40),
  tree: "b".repeat(40),
  work: null,
  tested: null,
  pushed: null,
};

const command = (name: CommandName, payload: unknown, agent?: string): Command =>
  ({
    command: name,
    commandId: "C-1",
    correlation: { sessionId: "ses_a", ...(agent === undefined ? {} : { issuerAgentId: agent }) },
    payload,
  }) as Command;

const past = (name: CommandName, agoMs: number): PastCommand => ({
  command: name,
  at: NOW - agoMs,
  outcome: "Success",
  isStale: false,
});

function rule(
  one: Command,
  profile: Partial<PolicyProfile> = {},
  history: PastCommand[] = [],
  globalLimits: RateLimits = {},
  workspace: SessionWorkspace | null = null,
): string {
  const verdict = judgeCommand(one, {
    profiles: [{ ...PROFILE, ...profile }],
    globalLimits,
    past: history,
    workspace,
    now: NOW,
  });
  return verdict.kind === "allowed" ? "allowed" : `${verdict.kind} ${verdict.policyRule}`;
}

const push = (branchName: string) => command("Push", { repo: REPO, branchName });
const tests = command("RunTests", { repo: REPO });

describe("a policy profile", () => {
  it("forbids commands on its blacklist, and commands missing from its whitelist", () => {
    expect(rule(tests)).toBe("allowed");
    expect(rule(tests, { commandBlacklist: ["RunTests"] })).toBe("rejected commandBlacklist");
    expect(rule(tests, { commandWhitelist: ["Push"] })).toBe("rejected commandWhitelist");
    expect(rule(tests, { commandWhitelist: ["RunTests"] })).toBe("allowed");
    expect(rule(tests, { commandWhitelist: [] })).toBe("rejected commandWhitelist");
  });

  it("forbids a push to a protected branch, by either of its names", () => {
    expect(rule(push("main"))).toBe("rejected protectedBranches");
    expect(rule(push("refs/heads/main"))).toBe("rejected protectedBranches");
    expect(rule(push("maintenance"))).toBe("allowed");
  });

  it("forbids a push without tests, or of another tree than the tested one", () => {
    const strict = { requireTestsBeforePush: true };
    const tested = (tree: string): SessionWorkspace => ({ ...WORKSPACE, tested: tree });
    const verdict = (history: PastCommand[], workspace: SessionWorkspace | null) =>
      rule(push("topic"), strict, history, {}, workspace);
    expect(verdict([], null)).toBe("rejected requireTestsBeforePush");
    expect(verdict([past("RunTests", 5)], WORKSPACE)).toBe("rejected requireTestsBeforePush");
    expect(verdict([past("RunTests", 9)], tested("c".repeat(40)))).toBe("rejected requireTestsBeforePush");
    expect(verdict([past("RunTests", 9), past("Commit", 5)], tested(WORKSPACE.tree))).toBe("allowed");
    const going = { ...past("Commit", 5), outcome: null };
    expect(verdict([past("RunTests", 9), going], tested(WORKSPACE.tree))).toBe(
      "rejected requireTestsBeforePush",
    );
  });

  it("forbids a branch with a protected name", () => {
    const create = (branchName: string) => command("CreateBranch", { repo: REPO, branchName });
    expect(rule(create("main"))).toBe("rejected protectedBranches");
    expect(rule(create("topic"), { requireApprovalForPush: true })).toBe("allowed");
  });

  it("forbids a push without an approval", () => {
    const strict = { requireApprovalForPush: true };
    expect(rule(push("topic"), strict)).toBe("rejected requireApprovalForPush");
    expect(rule(push("topic"), strict, [past("RequestApproval", 5)])).toBe("allowed");
    const changed = [past("RequestApproval", 9), past("Commit", 5)];
    expect(rule(push("topic"), strict, changed)).toBe("rejected requireApprovalForPush");
  });

  it("limits the files of a commit and of a patch", () => {
    const commit = command("Commit", { repo: REPO, message: "m", includePaths: ["a", "b"] });
    const patchContent = ["a", "b"].map((f) => `--- a/${f}\n+++ b/${f}\n@@ -1 +1 @@\n-x\n+y\n`).join("");
    const patch = command("ApplyPatch", { repo: REPO, patchContent });
    for (const one of [commit, patch]) {
      expect(rule(one, { maxFilesPerCommit: 1 })).toBe("rejected maxFilesPerCommit");
      expect(rule(one, { maxFilesPerCommit: 2 })).toBe("allowed");
    }
  });

  it("allows only the listed ticket transitions", () => {
    const move = (state: string) => command("TransitionTicket", { item: { id: "1" }, state });
    expect(rule(move("done"))).toBe("rejected allowedWorkItemTransitions");
    expect(rule(move("in review"))).toBe("allowed");
  });
});

describe("limits", () => {
  it("throttle per minute and per second, and give the time of the next try", () => {
    const limits = { callsPerMinute: 2 };
    const two = [past("RunTests", 50_000), past("RunTests", 10_000)];
    expect(rule(tests, { limits }, two)).toBe("throttled limits.callsPerMinute");
    expect(rule(tests, { limits }, [past("RunTests", 60_000), past("RunTests", 10_000)])).toBe("allowed");
    expect(rule(tests, { limits: { burst: 1 } }, [past("RunTests", 999)])).toBe("throttled limits.burst");
    const verdict = judgeCommand(tests, {
      profiles: [{ ...PROFILE, limits }],
      globalLimits: {},
      past: two,
      workspace: null,
      now: NOW,
    });
    expect(verdict).toMatchObject({ retryAt: NOW + 10_000 });
  });

  it("count per session, regardless of the agent a caller names", () => {
    const limits = { callsPerMinute: 1 };
    const renamed = command("RunTests", { repo: REPO }, "somebody else");
    expect(rule(renamed, { limits }, [past("RunTests", 5)])).toBe("throttled limits.callsPerMinute");
  });

  it("cap single commands, and apply globally if the profile has none", () => {
    const caps = { perCommandCaps: { RunTests: 1 } };
    expect(rule(tests, { limits: caps }, [past("RunTests", 900_000)])).toBe("rejected limits.perCommandCaps");
    expect(rule(tests, {}, [past("RunTests", 900_000)], caps)).toBe("rejected globalLimits.perCommandCaps");
    expect(rule(tests, {}, [], { callsPerMinute: 0 })).toBe("throttled globalLimits.callsPerMinute");
  });
});
