import { validate } from "@antiphon/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { factsWith, output, ran } from "../testing/dispatch.fixture.ts";
import { boundResult } from "./bounded-result.ts";
import type { RefusedCall } from "./refused-call.ts";
import { reportOf } from "./report.ts";
import type { AttemptFacts, Ending } from "./attempt-facts.ts";

const call = (isHopeless: boolean): RefusedCall => ({
  ...{ what: "model call", code: "ANT_EGRESS_MODEL", why: 'no price is known for model "x"', isHopeless },
});

describe("reportOf", () => {
  test("work and checks that pass are reported ok, with paths into the evidence", () => {
    const { result, code, decision } = reportOf(factsWith());
    expect(validate("AssociateResult", result)).toMatchObject({ ok: true });
    expect(result).toMatchObject({
      task_id: "T-001",
      status: "ok",
      files_changed: ["hello.txt"],
      verify: { mode: "smoke", status: "pass", commands: ["sh check.sh"], logs_path: "checks/1.stdout.txt" },
      questions: [],
    });
    expect(result.commands_run).toEqual([
      { command: "echo hello > hello.txt", exit_code: 0, stdout_path: null, stderr_path: null },
      { command: "sh check.sh", exit_code: 0, stdout_path: "checks/1.stdout.txt", stderr_path: null },
    ]);
    expect([code, decision]).toEqual([null, "propose"]);
  });

  test("a failed check makes the result failed, with a quote of the check's output", () => {
    const failed = ran("npm test", 1, { stderr: output("1 test failed\n") });
    const { result, code, decision } = reportOf(
      factsWith({
        checks: [ran("true", 0), failed],
        verify: { mode: "smoke", commands: ["true", "npm test"] },
      }),
    );
    expect(result.status).toBe("failed");
    expect(result.verify).toMatchObject({ status: "fail", logs_path: "checks/2.stderr.txt" });
    expect(result.summary).toContain("`npm test` exited 1: 1 test failed");
    expect([code, decision]).toEqual(["ANT_VERIFY_SELF_FAILED", "fail"]);
  });

  test("a failed check is left to the clean room when the change alters what decides the environment", () => {
    const { result, code, decision } = reportOf(
      factsWith({
        checks: [ran("npm test", 1)],
        verify: { mode: "smoke", commands: ["npm test"] },
        setupFiles: ["package-lock.json"],
      }),
    );
    expect(result.status).toBe("ok");
    expect(result.verify.status).toBe("fail");
    expect(result.summary).toContain(
      "npm test fails in the environment of the base, and the change alters package-lock.json",
    );
    expect([code, decision]).toEqual([null, "propose"]);
  });

  test.each([
    ["pytest -q", 127, "sh: 1: pytest: not found\n", "ANT_VERIFY_NO_PROGRAM", "no such program"],
    ["pytest -q", 127, "sh: line 1: pytest: command not found\n", "ANT_VERIFY_NO_PROGRAM", "no such program"],
    ["python3 -m pytest", 1, "python3: No module named pytest\n", "ANT_VERIFY_NO_PROGRAM", "no such program"],
    ["npm test", 127, "sh: 1: vitest: not found\n", "ANT_VERIFY_SELF_FAILED", "no such program"],
    ["./new.sh", 127, "sh: 1: ./new.sh: not found\n", "ANT_VERIFY_SELF_FAILED", "no such program"],
    ["./check.sh", 126, "sh: 1: ./check.sh: Permission denied\n", "ANT_VERIFY_SELF_FAILED", "not executable"],
    ["npm test", 1, "getaddrinfo EAI_AGAIN a.example\n", "ANT_VERIFY_SELF_FAILED", "the clean room has none"],
    ["npm test", 127, "something else\n", "ANT_VERIFY_SELF_FAILED", "exited 127: something else"],
  ] as const)("the check `%s` that exits %d with %j is %s", (command, exitCode, said, code, why) => {
    const report = reportOf(factsWith({ checks: [ran(command, exitCode, { stderr: output(said) })] }));
    expect(report.code).toBe(code);
    expect(report.result.summary).toContain(why);
  });

  test("the next step that a failed report suggests names its run", () => {
    const { result } = reportOf(factsWith({ runId: "run_abc", checks: [ran("npm test", 1)] }));
    expect(result.suggested_next).toContain("`antiphon logs run_abc`");
    expect(result.suggested_next).not.toContain("<runId>");
  });

  test("a failed command is named rather than a failed check", () => {
    const { code, result } = reportOf(factsWith({ work: [ran("make", 2)], checks: [ran("npm test", 1)] }));
    expect(code).toBe("ANT_AGENT_FAILED");
    expect(result.summary).toContain("`make` exited 2");
  });

  test("a refused model call is named before the failure that it led to, and not in good work", () => {
    const refused = call(false);
    const told = 'ANT_EGRESS_MODEL: no price is known for model "x"';
    const work = [ran("agent", 1)];
    const { code, result } = reportOf(factsWith({ work, refused }));
    expect(code).toBe("ANT_AGENT_FAILED");
    expect(result.summary).toContain(`a model call was refused (${told}), and \`agent\` exited 1`);
    const checks = [ran("npm test", 1)];
    for (const failed of [{ checks }, { change: null }]) {
      const { result: of } = reportOf(factsWith({ ...failed, refused }));
      expect(of.status).toBe("failed");
      expect(of.summary).toContain(`a model call was refused (${told}), and `);
    }
    expect(reportOf(factsWith({ refused })).result.summary).not.toContain("refused");
  });

  test("an agent that had no model at all failed for the reason of the refusal, also if it asked until its time was over", () => {
    const refused = call(true);
    const late: Ending = { kind: "stopped", code: "ANT_TASK_TIME_BUDGET", message: "killed after 60 s" };
    const idle = { change: null, checks: [] };
    const wants = { diff: false, filesChanged: false, files: 1 };
    for (const failed of [
      { work: [ran("agent", 1)] },
      { change: null },
      { ...idle, ending: late },
      { ...idle, kind: "inspect" as const, wants },
    ]) {
      const { code, result } = reportOf(factsWith({ ...failed, refused }));
      expect(code).toBe("ANT_EGRESS_MODEL");
      expect(result.suggested_next).toContain("ANT_EGRESS_MODEL: ");
    }
    const findings = { ...idle, kind: "inspect" as const, left: 1, wants, refused };
    expect(reportOf(factsWith(findings)).decision).toBe("propose");
    expect(reportOf(factsWith({ refused })).decision).toBe("propose");
  });

  test.each([true, false])(
    "an inspection that was to leave no file is good although a request was refused",
    (isHopeless) => {
      const facts = factsWith({ kind: "inspect", change: null, checks: [], refused: call(isHopeless) });
      expect(reportOf(facts).decision).toBe("propose");
    },
  );

  test("a failure after the model budget was used up is the budget's, and good work is still proposed", () => {
    const budgetSpent = true;
    for (const failed of [{ work: [ran("agent", 1)] }, { checks: [ran("npm test", 1)] }, { change: null }]) {
      const { code, result } = reportOf(factsWith({ ...failed, budgetSpent }));
      expect(code).toBe("ANT_EGRESS_BUDGET");
      expect(result.summary).toContain("the run's model budget was used up");
    }
    expect(reportOf(factsWith({ budgetSpent })).decision).toBe("propose");
  });

  test.each([
    ["run", "a run task"],
    ["inspect", "an inspect task"],
  ] as const)("a task of kind %s that changes files is failed", (kind, name) => {
    const { code, result } = reportOf(factsWith({ kind }));
    expect(code).toBe("ANT_TASK_MODIFIED_FILES");
    expect(result.summary).toBe(`${name} must not change files, and changed hello.txt`);
    expect(reportOf(factsWith({ kind, change: null })).result.status).toBe("ok");
  });

  test("an attempt that ran out of time is failed, with a next step", () => {
    const ending: Ending = { kind: "stopped", code: "ANT_TASK_TIME_BUDGET", message: "killed after 60 s" };
    const { code, result } = reportOf(factsWith({ ending, checks: [], change: null }));
    expect(code).toBe("ANT_TASK_TIME_BUDGET");
    expect(result).toMatchObject({ status: "failed", verify: { status: "unknown" } });
    expect(result.suggested_next).toContain("time_budget_s");
  });

  test("a question makes the status needs_input, and nothing else does", () => {
    const { result, decision } = reportOf(
      factsWith({
        ending: { kind: "asks", questions: ["Which colour?"] },
        work: [],
        checks: [],
        change: null,
      }),
    );
    expect(result).toMatchObject({ status: "needs_input", questions: ["Which colour?"] });
    expect(decision).toBe("needs_input");
  });

  test("without a check the verification is unknown, not passed", () => {
    const { result } = reportOf(factsWith({ checks: [], verify: { mode: "smoke", commands: [] } }));
    expect(result).toMatchObject({
      status: "ok",
      verify: { status: "unknown", commands: [], logs_path: null },
    });
  });

  test("a check that did not run leaves the verification unknown", () => {
    const { result } = reportOf(
      factsWith({ verify: { mode: "smoke", commands: ["sh check.sh", "npm test"] } }),
    );
    expect(result.verify.status).toBe("unknown");
  });

  test("an agent that vouches for itself reports a pass without a check", () => {
    const { result } = reportOf(factsWith({ selfVerified: false, checks: [] }));
    expect(result).toMatchObject({
      status: "ok",
      verify: { status: "pass", commands: ["sh check.sh"], logs_path: null },
    });
  });

  test("the diff and the list of files are left out when the task does not want them", () => {
    const { result } = reportOf(factsWith({ wants: { diff: false, filesChanged: false, files: 0 } }));
    expect([result.diff, result.files_changed]).toEqual([null, []]);
  });

  test("status, questions and checks agree for every combination of facts", () => {
    const command = fc.record({ exit: fc.constantFrom(0, 1, null) });
    const arbitrary = fc.record({
      kind: fc.constantFrom("edit_repo", "run", "inspect"),
      ending: fc.constantFrom<Ending>(
        { kind: "ran" },
        { kind: "asks", questions: ["?"] },
        { kind: "stopped", code: "ANT_SANDBOX_OOM", message: "m" },
      ),
      work: fc.array(command, { maxLength: 3 }),
      checks: fc.array(command, { maxLength: 3 }),
      changed: fc.boolean(),
      selfVerified: fc.boolean(),
      budgetSpent: fc.boolean(),
      refused: fc.option(fc.boolean()),
      message: fc.option(fc.string({ minLength: 1, maxLength: 200 })),
    });
    fc.assert(
      fc.property(arbitrary, ({ kind, ending, work, checks, changed, refused, ...others }) => {
        const facts: AttemptFacts = factsWith({
          kind: kind as AttemptFacts["kind"],
          ending,
          ...others,
          refused: refused === null ? null : call(refused),
          work: work.map(({ exit }, i) => ran(`w${i}`, exit)),
          checks: checks.map(({ exit }, i) => ran(`c${i}`, exit)),
          verify: { mode: "smoke", commands: checks.map((_, i) => `c${i}`) },
          ...(changed ? {} : { change: null }),
        });
        const { result, code } = reportOf(facts);
        if (result.status === "ok") expect(checks.every(({ exit }) => exit === 0)).toBe(true);
        expect(result.status === "needs_input").toBe(result.questions.length > 0);
        expect(result.status === "failed").toBe(code !== null);
      }),
    );
  });
});

describe("boundResult", () => {
  const limit = 40 * 1024;
  const size = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

  test("a report that fits is not changed", () => {
    const { result } = reportOf(factsWith());
    expect(boundResult(result, limit)).toBe(result);
  });

  test("a large diff is dropped, and the rest stays", () => {
    const { result } = reportOf(factsWith({ change: { patch: "x".repeat(100_000), files: ["a"] } }));
    const bounded = boundResult(result, limit);
    expect(bounded).toEqual({ ...result, diff: null });
  });

  test("a report of thousands of files and long commands is cut to fit", () => {
    const files = Array.from({ length: 2000 }, (_, i) => `${"dir/".repeat(50)}ö${i}`);
    const work = Array.from({ length: 64 }, () => ran("é".repeat(8000), 0));
    const checks = Array.from({ length: 64 }, (_, i) => ran(`c${i}`, 0));
    const { result } = reportOf(factsWith({ change: { patch: "p", files }, work, checks }));
    const bounded = boundResult(result, limit);
    expect(size(bounded)).toBeLessThanOrEqual(limit);
    expect(bounded.files_changed.length).toBeGreaterThan(10);
    expect(validate("AssociateResult", bounded)).toMatchObject({ ok: true });
  });
});

test("an attempt that ends with a model that failed says so before what its command said", () => {
  const work = [ran("agent", 1, { stderr: output("gave up\n") })];
  const modelFailed = "2 of 2 failed, the last: models.test answered 503: overloaded";
  const { result, code } = reportOf(factsWith({ work, modelFailed }));
  expect(code).toBe("ANT_AGENT_FAILED");
  expect(result.summary).toBe(`its model calls failed (${modelFailed}), and \`agent\` exited 1: gave up`);
});
