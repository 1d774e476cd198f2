import { AntiphonError, digestOf, type BlobRef, type RunOptions } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { outstanding, openRun, replay } from "@antiphon/run";
import { BASE, RecordLog, check, planned } from "@antiphon/run/testing/record-log";
import type { AppliedChange, CleanRoomPort, RoomRequest } from "../ports.ts";
import { verify, type VerificationPorts } from "./verification.ts";
import { POLICY } from "../testing/directing.ts";

const PATCH = Buffer.from("a patch");
const REF: BlobRef = {
  bucket: "ANT_EVIDENCE_FILES",
  name: "p",
  digest: digestOf(PATCH),
  bytes: PATCH.length,
};
const CANDIDATE = { tree: "c".repeat(40), objects: [], overlay: [], deletions: [] };

/** A run whose Associate reports success; `said` overrides its report of the checks. */
function reported(workflow: "BUILD" | "DEBUG", said: object = {}, options: Partial<RunOptions> = {}) {
  const log = new RecordLog()
    .opened([planned("T-001")], options, workflow)
    .dispatched("T-001")
    .claimed("T-001");
  log.reported("T-001", 1, "ok");
  const last = log.records.at(-1);
  if (last?.type !== "result" || last.body.kind !== "reported") throw new Error("unreachable");
  Object.assign(last.body, { patch: REF });
  Object.assign(last.body.result, said);
  const { context, ...snapshot } = replay(openRun(log.runId, POLICY), log.records);
  const effect = outstanding({ ...snapshot, context }).find(({ kind }) => kind === "verify");
  if (effect?.kind !== "verify") throw new Error("nothing to verify");
  return { context, effect };
}

/** A clean room whose checks end in the same way in every trial of a request. */
const roomOf = (exitOf: (request: RoomRequest) => number): CleanRoomPort => ({
  check: (request) => {
    const outcomes = [check(exitOf(request))];
    return Promise.resolve({ trials: times(request.trials.least, outcomes), written: null });
  },
});
const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);

function portsOver(room: CleanRoomPort, change: Partial<AppliedChange> = {}) {
  const applied: unknown[] = [];
  const none = (): never => {
    throw new Error("not asked for here");
  };
  const ports: VerificationPorts = {
    repository: {
      inspect: none,
      texts: none,
      land: none,
      replayOnto: none,
      tip: none,
      runsOf: none,
      discoverChecks: none,
      otherChecks: none,
      diff: none,
      exportHistory: none,
      exportNamed: none,
      openedFiles: () => Promise.resolve([]),
      follow: () => Promise.resolve(null),
      exportBase: (_repo, commit) =>
        Promise.resolve({ commit, tree: BASE, object: `tree-${commit}.tar`, bytes: 0, files: 0 }),
      candidate: (_repo, head, patch) => {
        applied.push([head, patch.toString()]);
        const found = {
          unproven: [],
          guards: [],
          judges: [],
          tests: [],
          chance: null,
          aware: [],
          files: [],
          ...change,
        };
        return Promise.resolve({ kind: "candidate", candidate: CANDIDATE, ...found });
      },
      commit: () => Promise.resolve("d".repeat(40)),
    },
    room,
    evidence: {
      store: () => Promise.resolve({ key: "k", digest: digestOf(PATCH) }),
      patch: () => Promise.resolve(PATCH),
      artifact: none,
      keep: none,
    },
  };
  return { ports, applied };
}

async function verdictOf(exitCode: number, said: object = {}) {
  const { context, effect } = reported("BUILD", said);
  const asked: RoomRequest[] = [];
  const { ports, applied } = portsOver(
    roomOf((request) => {
      asked.push(request);
      return request.purpose === "base" ? 1 : exitCode;
    }),
  );
  const verdict = await verify(context, effect, ports, new AbortController().signal);
  return { verdict, asked, applied };
}

test("director/D4: the clean room checks the patch on the run's head by the contract's commands", async () => {
  const { verdict, asked, applied } = await verdictOf(0);
  expect(applied).toEqual([[BASE, "a patch"]]);
  expect(asked).toMatchObject([
    { purpose: "verify", tree: { commit: BASE }, candidate: CANDIDATE, checks: ["npm test"] },
    { purpose: "base", tree: { commit: BASE }, candidate: null, checks: ["npm test"] },
  ]);
  expect(verdict).toMatchObject({ verdict: "PASS", head: BASE, tree: CANDIDATE.tree });
});

test("director/D4: the Associate's report of checks, files and commands does not change the verdict", async () => {
  const lie = {
    summary: "all green",
    commands_run: ["true"],
    files_changed: ["another"],
    verify: { mode: "smoke", status: "pass", commands: ["true"], logs_path: null },
  };
  for (const exitCode of [0, 1]) {
    const [honest, lying] = [await verdictOf(exitCode), await verdictOf(exitCode, lie)];
    expect(lying).toEqual(honest);
    expect(lying.verdict.verdict).toBe(exitCode === 0 ? "PASS" : "FAIL");
  }
});

test.each(["verify", "base"] as const)(
  "when the %s room of a trial breaks, the other one is stopped and has ended before the error is thrown",
  async (breaking) => {
    const { context, effect } = reported("DEBUG");
    const ended: string[] = [];
    const { ports } = portsOver({
      check: ({ purpose }, signal) => {
        if (purpose === breaking)
          return Promise.reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST", purpose));
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            // The runner confirms the cancel later.
            setImmediate(() => {
              ended.push(purpose);
              reject(new AntiphonError("ANT_SANDBOX_CANCELED", purpose));
            });
          });
        });
      },
    });
    const verdict = verify(context, effect, ports, new AbortController().signal);
    await expect(verdict).rejects.toMatchObject({ code: "ANT_SANDBOX_RUNNER_LOST", detail: breaking });
    expect(ended).toEqual([breaking === "verify" ? "base" : "verify"]);
  },
);

test("director/D5: a BUILD change of a source that the check runs is tried on the base too, and fails if that passes", async () => {
  const { context, effect } = reported("BUILD");
  for (const [before, verdict] of [
    [1, "PASS"],
    [0, "FAIL"],
  ] as const) {
    const asked: string[] = [];
    const { ports } = portsOver(
      roomOf(({ purpose, candidate }) => {
        asked.push(candidate?.tree === undefined ? "base" : purpose);
        return purpose === "base" ? before : 0;
      }),
      { unproven: [{ path: "src/a.js", why: "the check runs it" }] },
    );
    const body = await verify(context, effect, ports, new AbortController().signal);
    expect(body.verdict).toBe(verdict);
    expect(asked.slice(0, 2)).toEqual(["verify", "base"]);
  }
});

test("a fix that passes only with its own data, which the check opened and no source names, proves nothing", async () => {
  const { context, effect } = reported("DEBUG");
  const candidate = {
    ...CANDIDATE,
    overlay: ["answers/seven", "add.js"].map((path) => ({
      path,
      mode: "100644" as const,
      content: Buffer.from("1"),
    })),
  };
  const read: unknown[] = [];
  const room: CleanRoomPort = {
    check: ({ purpose, candidate: tried, trials, traced }) => {
      read.push(traced);
      const isBent = tried?.overlay.some(({ path }) => path === "answers/seven") === true;
      const written = { changed: [], restored: [], made: [], complete: true, read: ["answers/seven"] };
      const outcomes = [check(purpose === "verify" && isBent ? 0 : 1)];
      return Promise.resolve({ trials: times(trials.least, outcomes), written });
    },
  };
  const { ports } = portsOver(room, { candidate });
  const asked: unknown[] = [];
  ports.repository.openedFiles = (_repo, _head, _change, rules) => {
    asked.push([...rules.opened]);
    return Promise.resolve(["answers/seven"]);
  };
  const body = await verify(context, effect, ports, new AbortController().signal);
  expect(asked).toEqual([["answers/seven"]]);
  expect(read).toEqual([["answers/seven", "add.js"], ["answers/seven", "add.js"], undefined]);
  expect(body).toMatchObject({
    verdict: "UNVERIFIABLE",
    proves: "nothing",
    code: "ANT_VERIFY_PROVES_NOTHING",
  });
  expect(body.message).toContain("answers/seven");
});

test.each([
  ["lands nothing by the demand of its run", "DEBUG", [], {}, "UNVERIFIABLE", 0],
  ["is refused", "BUILD", [{ path: "src/a.js", why: "the check runs it" }], {}, "FAIL", 0],
  ["would land", "BUILD", [], {}, "UNVERIFIABLE", 1],
  ["a grant lands for another reason", "DEBUG", [], { allow_unproven: true }, "PASS", 0],
  ["people are asked about by a gate alone", "BUILD", [], { approvals: { needed: 1 } }, "PASS", 1],
] as const)(
  "a change that %s is tried without any file only if that decides",
  async (_, workflow, unproven, options, verdict, rooms) => {
    const { context, effect } = reported(workflow, {}, options);
    let emptied = 0;
    const { ports } = portsOver(
      roomOf((request) => {
        if (request.emptied === true) emptied += 1;
        return 0;
      }),
      { unproven },
    );
    const body = await verify(context, effect, ports, new AbortController().signal);
    expect([body.verdict, emptied]).toEqual([verdict, rooms]);
  },
);

test("an unnamed check is discovered in the commit the run started from, regardless of what landed since", async () => {
  const { context, effect } = reported("BUILD");
  const bare = structuredClone(effect);
  bare.task.planned.task.verify_profile.commands = [];
  const { ports } = portsOver(roomOf(() => 0));
  const discoveredAt: string[] = [];
  ports.repository.discoverChecks = (_repo, commit) => {
    discoveredAt.push(commit);
    return Promise.resolve(["make test"]);
  };
  await verify({ ...context, head: "e".repeat(40) }, bare, ports, new AbortController().signal);
  expect(discoveredAt).toEqual([BASE]);
});

test("director/D10: a change is held to the policy bounds of its intent record", async () => {
  const { context, effect } = reported("BUILD");
  const policy = { profiles: ["strict"], max_files: 1, protected_paths: ["deploy/**"] };
  const { facts } = context;
  if (facts.intent === null) throw new Error("unreachable");
  const bounded = { ...context, facts: { ...facts, intent: { ...facts.intent, policy } } };
  const { ports } = portsOver({ check: () => Promise.reject(new Error("no room is asked for")) });
  const asked: unknown[] = [];
  ports.repository.candidate = (_repo, _head, _patch, rules) => {
    asked.push(rules.policy);
    return Promise.resolve({ kind: "refused", code: "ANT_PATCH_POLICY", message: "2 files, at most 1" });
  };
  const verdict = await verify(bounded, effect, ports, new AbortController().signal);
  expect(asked).toEqual([policy]);
  expect(verdict).toMatchObject({ code: "ANT_PATCH_POLICY", message: "2 files, at most 1", commit: null });
  expect(verdict.verdict).not.toBe("PASS");
});

test("a change gets no verdict while its plan lacks the skill that has to judge it, and no clean room runs", async () => {
  const { context, effect } = reported("BUILD", {}, { gates: { skills: ["reviewer"] } });
  const { ports, applied } = portsOver(roomOf(() => 0));
  const asked = verify(context, effect, ports, new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ code: "ANT_GATE_UNPLANNED", disposition: "terminal" });
  expect(applied).toEqual([]);
});
