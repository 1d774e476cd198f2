import type { RebuiltRun } from "@antiphon/contracts";
import { journalFault, type FaultKind, type JournalFault } from "@antiphon/run/audit/journal-fault";
import { expect, test } from "vitest";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { Failure } from "../failure.ts";
import type { CheckedJournal } from "./journal-check.ts";
import { rebuildRuns } from "./journal-rebuild.ts";

const asFound = { expected: "a record", found: "none" };

function fault(runId: string, kind: FaultKind, type: string | null): JournalFault {
  const subject = type === null ? null : `antiphon.v1.run.0.${type}.${runId}.t-001.1`;
  return journalFault(kind, { runId, subject, seq: 7 }, asFound);
}

function checked(runIds: readonly string[], faults: readonly JournalFault[] = []): CheckedJournal {
  const report = {
    ok: faults.length === 0,
    runs: runIds.length,
    records: 0,
    open: 0,
    unsigned: 0,
    notes: [],
  };
  return { runIds, report: { ...report, faults } };
}

/** A gateway that answers each rebuild as configured, and remembers the requested runs. */
function gatewayOf(answers: Readonly<Record<string, Failure | Partial<RebuiltRun>>> = {}) {
  const asked: string[] = [];
  const post = async (path: "/runs/{id}/rebuild", { id: runId }: { id: string }): Promise<unknown> => {
    asked.push(runId);
    const answer = answers[runId];
    await Promise.resolve();
    if (answer instanceof Failure) throw answer;
    return { runId, written: [], restored: [], goesOn: false, ...answer };
  };
  return { asked, post: post as GatewayClient["post"] };
}

const quiet = (): void => undefined;
const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `run_${i}`);

test.each<readonly [string, (runId: string) => JournalFault[], string]>([
  ["an altered record", (runId) => [fault(runId, "altered", "claim")], "ANT_JOURNAL_CORRUPT"],
  ["an altered landing", (runId) => [fault(runId, "altered", "landing")], "ANT_JOURNAL_CORRUPT"],
  [
    "a record that is not handed out",
    (runId) => [fault(runId, "unreadable", "landing")],
    "ANT_JOURNAL_CORRUPT",
  ],
  ["a missing claim", (runId) => [fault(runId, "missing", "claim")], "ANT_JOURNAL_GAP"],
  ["something missing that nothing names", (runId) => [fault(runId, "missing", null)], "ANT_JOURNAL_GAP"],
  ["a broken seal", (runId) => [fault(runId, "seal", "closed")], "ANT_JOURNAL_GAP"],
  ["a forged decision", (runId) => [fault(runId, "forged", "landing")], "ANT_SIGNATURE_INVALID"],
  ["a pack that is gone", (runId) => [fault(runId, "archive", null)], "ANT_ARCHIVE_CORRUPT"],
  [
    "a missing landing and an altered claim",
    (runId) => [fault(runId, "altered", "claim"), fault(runId, "missing", "landing")],
    "ANT_JOURNAL_CORRUPT",
  ],
])(
  "a run with %s is skipped and named, no rebuild of it is requested, and the others are rebuilt",
  async (_, damage, code) => {
    const gateway = gatewayOf({ run_1: { written: ["ANT_RUNS/run_1"] } });
    const report = await rebuildRuns(gateway, checked(["run_0", "run_1"], damage("run_0")), quiet);
    expect(gateway.asked).toEqual(["run_1"]);
    const [first] = damage("run_0");
    const message = `damaged: ${first?.kind} ${first?.subject ?? "register unknown"}`;
    expect(report.left).toEqual([{ runId: "run_0", code, message }]);
    expect(report).toMatchObject({ runs: 2, written: 1, restored: 0, rebuilt: [{ runId: "run_1" }] });
  },
);

test("a run that only lacks records, a landing among them, is rebuilt by the Director", async () => {
  const faults = [
    fault("run_0", "missing", "landing"),
    fault("run_1", "missing", "claim"),
    fault("run_1", "missing", "landing"),
  ];
  const landing = "antiphon.v1.run.0.landing.run_0.t-001.1";
  const gateway = gatewayOf({
    run_0: { restored: [landing], written: ["ANT_RUNS/run_0"] },
    run_1: new Failure("ANT_JOURNAL_GAP", "run_1 is damaged and was left as it is"),
  });
  const report = await rebuildRuns(gateway, checked(["run_0", "run_1"], faults), quiet);
  expect(gateway.asked).toEqual(["run_0", "run_1"]);
  expect(report).toMatchObject({
    restored: 1,
    written: 1,
    rebuilt: [{ runId: "run_0", restored: [landing] }],
  });
  expect(report.left).toMatchObject([{ runId: "run_1", code: "ANT_JOURNAL_GAP" }]);
});

test("damage to the stream as a whole, or to another run, does not prevent a run's rebuild", async () => {
  const faults = [
    journalFault("lost", { runId: null, subject: null, seq: null }, asFound),
    fault("run_9", "seal", null),
  ];
  const gateway = gatewayOf();
  const report = await rebuildRuns(gateway, checked(["run_0"], faults), quiet);
  expect([gateway.asked, report.left]).toEqual([["run_0"], []]);
});

test("a failure of some runs is reported, and all the others are rebuilt", async () => {
  const runIds = many(30);
  const broken = { run_0: "ANT_RUN_NOT_FOUND", run_9: "ANT_JOURNAL_CORRUPT", run_29: "ANT_INTERNAL" };
  const answers: Record<string, Failure | Partial<RebuiltRun>> = {};
  for (const runId of runIds) answers[runId] = { written: [`ANT_RUNS/${runId}`] };
  for (const [runId, code] of Object.entries(broken)) answers[runId] = new Failure(code, `not ${runId}`);
  const gateway = gatewayOf(answers);
  const seen: number[] = [];
  const report = await rebuildRuns(gateway, checked(runIds), (count, of) => seen.push(count / of));
  expect(gateway.asked).toEqual(runIds);
  expect(report.left).toEqual(
    Object.entries(broken).map(([runId, code]) => ({ runId, code, message: `not ${runId}` })),
  );
  expect([report.written, report.rebuilt.length]).toEqual([27, 27]);
  expect(seen).toEqual([8 / 30, 16 / 30, 24 / 30, 1]);
});

test.each(["ANT_DIRECTOR_UNAVAILABLE", "ANT_GATEWAY_UNREACHABLE", "ANT_NATS_UNREACHABLE"])(
  "%s ends the rebuild: it is thrown, and no further runs are requested",
  async (code) => {
    const gateway = gatewayOf({ run_3: new Failure(code, "nobody there") });
    await expect(rebuildRuns(gateway, checked(many(30)), quiet)).rejects.toMatchObject({ code });
    expect(gateway.asked).toEqual(many(8));
  },
);

test("a run that was already correct is counted but not listed as rebuilt", async () => {
  const gateway = gatewayOf({ run_1: { goesOn: true } });
  const report = await rebuildRuns(gateway, checked(many(3)), quiet);
  expect(report).toEqual({
    runs: 3,
    rebuilt: [{ runId: "run_1", written: [], restored: [], goesOn: true }],
    left: [],
    written: 0,
    restored: 0,
  });
});
