import { describe, expect, test } from "vitest";
import { consent } from "./consent.ts";
import type { RunSummary } from "./summary.ts";

const failed = (code: string, message = "", tasks = 1): RunSummary =>
  ({
    ...{ runId: "run_1", status: "failed", code },
    tasks: Array.from({ length: tasks }, () => ({ message, evidence: "run_1.T-001.1" })),
  }) as unknown as RunSummary;

describe("the command that takes the change of a failed run after all", () => {
  test("grants each protected path that the verdict names, quoted for a shell and literal as a glob", () => {
    const one = "test/a.js: protected: a test or its data; another attempt would make the same change";
    expect(consent(failed("ANT_PATCH_PROTECTED", one))).toBe("antiphon run --patch run_1 --grant test/a.js");
    const two = "t/[x]*.js: protected: a test; it's.js: protected: the check reaches it: npm test -> it's.js";
    expect(consent(failed("ANT_PATCH_PROTECTED", two))).toBe(
      "antiphon run --patch run_1 --grant 't/[x]\\*.js' --grant 'it'\\''s.js'",
    );
    expect(consent(failed("ANT_PATCH_PROTECTED", "no path is named"))).toBeNull();
  });

  test("asks for approval where the proof is short, and for the caller's word where a bug fix proves nothing", () => {
    expect(consent(failed("ANT_VERIFY_UNTESTED"))).toBe("antiphon run --patch run_1 --require-approval");
    expect(consent(failed("ANT_VERIFY_PROVES_NOTHING"))).toBe("antiphon run --patch run_1 --allow-unproven");
  });

  test("is none where no consent helps, where the run goes on or landed, where nothing was left, and for several tasks", () => {
    expect(consent(failed("ANT_VERIFY_CHECK_FAILED"))).toBeNull();
    expect(consent(failed("ANT_VERIFY_UNTESTED", "", 2))).toBeNull();
    expect(consent({ ...failed("ANT_VERIFY_UNTESTED"), status: "running" })).toBeNull();
    const none = failed("ANT_VERIFY_UNTESTED");
    expect(consent({ ...none, tasks: none.tasks.map((task) => ({ ...task, evidence: null })) })).toBeNull();
  });
});
