import type { VerdictBody } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { openRun, replay } from "../machine/replay.ts";
import { planned, RecordLog } from "../testing/record-log.ts";
import { closingOf } from "./closing.ts";

const POLICY = { maxAttempts: 1, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };

function statusAfter(verdict: VerdictBody["verdict"], code: string): string {
  const log = new RecordLog().opened([planned("T-001")]);
  log.dispatched("T-001").claimed("T-001").reported("T-001", 1, "ok");
  log.judged("T-001", 1, { verdict, code, message: "so", commit: null });
  return closingOf(replay(openRun(log.runId, POLICY), log.records).context).contract.status;
}

test.each(["NO_CHECK", "CRITERION", "PROVES_NOTHING", "OWN_TESTS", "TEST_AWARE"])(
  "a run that nothing could verify (%s) needs a person's review",
  (name) => {
    expect(statusAfter("UNVERIFIABLE", `ANT_VERIFY_${name}`)).toBe("NEEDS_REVIEW");
  },
);

test.each(["CHECK_FAILED", "MASKED", "TAMPERED"])("a run whose change is refuted (%s) is blocked", (name) => {
  expect(statusAfter("FAIL", `ANT_VERIFY_${name}`)).toBe("BLOCKED");
});
