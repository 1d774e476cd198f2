import {
  bodyBytes,
  limits,
  recordBodyBytes,
  validate,
  type CheckOutcome,
  type ClosedBody,
  type DispatchBody,
  type VerdictBody,
} from "@antiphon/contracts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fitClosing, fitDispatch, fitVerdict } from "./fitting.ts";
import { BASE, RecordLog, check, commitOf } from "@antiphon/run/testing/record-log";

const DIGEST = `sha256-${"A".repeat(43)}`;
const LOG = { bucket: "ANT_EVIDENCE_FILES", name: "f".repeat(64), digest: DIGEST, bytes: 999_999 };

const chatty = (n: number, exitCode: number | null, tail = "x".repeat(2048)): CheckOutcome => ({
  ...check(exitCode),
  command: `check ${n}`,
  stdout: LOG,
  stderr: LOG,
  tail,
});

function verdictOf(checks: CheckOutcome[], baseChecks: CheckOutcome[] = []): VerdictBody {
  const message = `${checks.map(({ command }) => command).join(", ")} passes in the clean room`;
  const found = { verdict: "PASS" as const, code: null, message, checks, baseChecks };
  return { ...found, head: BASE, commit: commitOf(1), tree: BASE, evidence: { key: "k", digest: DIGEST } };
}

function dispatchOf(feedback: DispatchBody["feedback"]): DispatchBody {
  const record = new RecordLog().dispatched("T-001").records[0];
  if (record?.type !== "dispatch") throw new Error("unreachable");
  return { ...record.body, feedback };
}

const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const rejected = (epoch: number, checks: CheckOutcome[], message = `rejected ${epoch}`) => ({
  epoch,
  code: "ANT_VERIFY_CHECK_FAILED",
  message,
  checks,
});
/** False if the text holds half of a surrogate pair, which does not survive UTF-8. */
const isWhole = (text: string): boolean => Buffer.from(text, "utf8").toString("utf8") === text;

function expectValid(type: "verdict" | "dispatch" | "closed", taskId: string | null, body: object): void {
  const cause = { seq: 1, digest: DIGEST };
  const record = { v: 1, type, runId: "run_1", taskId, epoch: type === "closed" ? 0 : 1, cause, body };
  expect(validate(`journal.${type}`, record)).toMatchObject({ ok: true });
}

describe("a verdict", () => {
  test("that fits its record is stored unchanged", () => {
    const body = verdictOf(times(20, (i) => chatty(i, i % 2)));
    expect(fitVerdict(body)).toBe(body);
  });

  test("of 64 chatty checks loses the logs of passed ones first and keeps its findings", () => {
    const body = verdictOf(times(64, (i) => chatty(i, i === 7 ? 1 : 0, `${"x".repeat(2040)}the end`)));
    expect(bodyBytes(body)).toBeGreaterThan(recordBodyBytes);
    const fitted = fitVerdict(body);
    expect(bodyBytes(fitted)).toBeLessThanOrEqual(recordBodyBytes);
    expect(fitted.checks[7]).toEqual(body.checks[7]);
    expect(fitted.checks[8]?.tail).toHaveLength(256);
    expect(fitted.checks[8]?.tail.endsWith("the end")).toBe(true);
    expectValid("verdict", "T-001", fitted);
  });

  test("fits regardless of the output and the script of its checks", () => {
    const anyCheck = fc.record({
      n: fc.nat(999),
      exitCode: fc.constantFrom(0, 0, 1, null),
      tail: fc.tuple(fc.constantFrom("x", "é", "漢", "😀"), fc.nat(1024)).map(([text, n]) => text.repeat(n)),
    });
    const checks = fc.array(anyCheck, { maxLength: 64, size: "max" });
    fc.assert(
      fc.property(checks, checks, (after, before) => {
        const outcomes = (all: typeof after) => all.map(({ n, exitCode, tail }) => chatty(n, exitCode, tail));
        const body = verdictOf(outcomes(after), outcomes(before));
        const fitted = fitVerdict(body);
        expect(bodyBytes(fitted)).toBeLessThanOrEqual(recordBodyBytes);
        expect(fitVerdict(fitted)).toBe(fitted);
        const bare = (one: VerdictBody) => ({ ...one, checks: one.checks.map((c) => ({ ...c, tail: "" })) });
        expect({ ...bare(fitted), baseChecks: [] }).toEqual({ ...bare(body), baseChecks: [] });
        fitted.checks.forEach(({ tail }, i) => {
          expect(body.checks[i]?.tail.endsWith(tail) === true && isWhole(tail)).toBe(true);
        });
      }),
      { numRuns: 25 },
    );
  });

  test("with long commands has its message cut and one failure for the whole base", () => {
    const long = (i: number, exitCode: number) => ({
      ...chatty(i, exitCode),
      command: `${i} ${"c".repeat(900)}`,
    });
    const body = verdictOf(
      times(64, (i) => long(i, 0)),
      times(64, (i) => long(i, i === 5 ? 1 : 0)),
    );
    const fitted = fitVerdict(body);
    expect(bodyBytes(fitted)).toBeLessThanOrEqual(recordBodyBytes);
    expect(fitted.checks.map(({ command }) => command)).toEqual(body.checks.map(({ command }) => command));
    expect(fitted.baseChecks).toEqual([{ ...body.baseChecks[5], tail: "" }]);
    expect(fitted.message).toHaveLength(2048);
  });
});

describe("a dispatch", () => {
  test("carries no passed checks, and feedback that fits unchanged", () => {
    const [red, green] = [chatty(1, 1), chatty(2, 0)];
    const fitted = fitDispatch(dispatchOf([rejected(1, [red, green])]));
    expect(fitted.feedback).toEqual([rejected(1, [red])]);
  });

  test("with more feedback than fits has its logs shortened before any feedback is dropped", () => {
    const body = dispatchOf(
      times(5, (e) =>
        rejected(
          e + 1,
          times(11, (i) => chatty(i, 1)),
        ),
      ),
    );
    expect(bodyBytes(body)).toBeGreaterThan(recordBodyBytes);
    const fitted = fitDispatch(body);
    expect(bodyBytes(fitted)).toBeLessThanOrEqual(recordBodyBytes);
    expect(fitted.feedback.map(({ epoch, checks }) => [epoch, checks.length])).toEqual(
      times(5, (e) => [e + 1, 11]),
    );
    expectValid("dispatch", "T-001", fitted);
  });

  test("then loses its oldest feedback, and never its task", () => {
    const red = fc.record({ tail: fc.nat(2048), message: fc.nat(48_000), checks: fc.nat(64) });
    fc.assert(
      fc.property(fc.array(red, { maxLength: 5 }), (rounds) => {
        const feedback = rounds.map(({ tail, message, checks }, e) =>
          rejected(
            e + 1,
            times(checks, (i) => chatty(i, 1, "é".repeat(tail))),
            "m".repeat(message),
          ),
        );
        const body = dispatchOf(feedback);
        const fitted = fitDispatch(body);
        expect(bodyBytes(fitted)).toBeLessThanOrEqual(recordBodyBytes);
        expect({ ...fitted, feedback: [] }).toEqual({ ...body, feedback: [] });
        expect(fitted.feedback.at(-1)?.epoch).toBe(feedback.at(-1)?.epoch);
      }),
      { numRuns: 25 },
    );
  });
});

test("the closing of a run of many tasks fits, with one line per task", () => {
  const body: ClosedBody = {
    status: "failed",
    code: "ANT_VERIFY_SELF_FAILED",
    message: `T-001 after 3 attempts: ${"s".repeat(48_000)}`,
    contract: {
      status: "BLOCKED",
      workflow: "BUILD",
      tasks_completed: 0,
      tasks_total: limits.tasksPerRun,
      evidence: times(limits.tasksPerRun, (i) => ({
        type: "verification" as const,
        result: "FAIL" as const,
        details: `T-${i}: ANT_VERIFY_SELF_FAILED ${"é".repeat(20_000)}`,
      })),
      next_action: "Resolve ANT_VERIFY_SELF_FAILED, then run the intent again",
    },
    commit: null,
    landedOn: null,
    seal: DIGEST,
  };
  const fitted = fitClosing(body);
  expect(bodyBytes(fitted)).toBeLessThanOrEqual(recordBodyBytes);
  expect(fitted).toMatchObject({ status: "failed", code: body.code, seal: DIGEST });
  expect(fitted.contract.evidence.map(({ details }) => details.split(" ")[0])).toEqual(
    body.contract.evidence.map(({ details }) => details.split(" ")[0]),
  );
  expectValid("closed", null, fitted);
  const small = { ...body, message: "m", contract: { ...body.contract, evidence: [] } };
  expect(fitClosing(small)).toBe(small);
});
