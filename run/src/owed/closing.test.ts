import { ERRORS, type ErrorCode, type VerdictBody } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { openRun, replay } from "../machine/replay.ts";
import { planned, RecordLog } from "../testing/record-log.ts";
import { closingOf } from "./closing.ts";
import { outstanding } from "./outstanding.ts";

const POLICY = { maxAttempts: 1, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };

function statusAfter(verdict: VerdictBody["verdict"], code: string): string {
  const log = new RecordLog().opened([planned("T-001")]);
  log.dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
  log.judged("T-001", 1, { verdict, code, message: "so", commit: null });
  return closingOf(replay(openRun(log.runId, POLICY), log.records).context).contract.status;
}

test.each(["NO_CHECK", "CRITERION", "PROVES_NOTHING", "OWN_TESTS", "TEST_AWARE", "UNTESTED"])(
  "a run that nothing could verify (%s) needs a person's review",
  (name) => {
    expect(statusAfter("UNVERIFIABLE", `ANT_VERIFY_${name}`)).toBe("NEEDS_REVIEW");
  },
);

test.each(["CHECK_FAILED", "MASKED", "TAMPERED"])("a run whose change is refuted (%s) is blocked", (name) => {
  expect(statusAfter("FAIL", `ANT_VERIFY_${name}`)).toBe("BLOCKED");
});

test.each<ErrorCode>(["ANT_VERIFY_CRITERION", "ANT_VERIFY_NO_CHECK", "ANT_VERIFY_PROVES_NOTHING"])(
  "no further attempt is paid for after %s, and the table of errors says so",
  (code) => {
    const log = new RecordLog().opened([planned("T-001")]);
    log.dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
    log.judged("T-001", 1, { verdict: "UNVERIFIABLE", code, message: "so", commit: null });
    const end = replay(openRun(log.runId, { ...POLICY, maxAttempts: 3 }), log.records);
    expect(outstanding(end).map(({ kind }) => kind)).not.toContain("dispatch");
    expect(end.context.tasks).toMatchObject([{ phase: { kind: "failed", code } }]);
    expect(ERRORS[code].disposition).toBe("terminal");
  },
);

test("another attempt may add the test whose lack ANT_VERIFY_UNTESTED names, and is told", () => {
  const log = new RecordLog().opened([planned("T-001")]);
  log.dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
  const code = "ANT_VERIFY_UNTESTED";
  log.judged("T-001", 1, { verdict: "UNVERIFIABLE", code, message: "src/b.js", commit: null });
  const end = replay(openRun(log.runId, { ...POLICY, maxAttempts: 2 }), log.records);
  expect(outstanding(end).map(({ kind }) => kind)).toContain("dispatch");
  expect(end.context.tasks).toMatchObject([{ feedback: [{ epoch: 1, code, message: "src/b.js" }] }]);
  expect(ERRORS[code].disposition).toBe("attempt");
});
