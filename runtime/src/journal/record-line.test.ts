import { AntiphonError, digestOf, encode, subjects } from "@antiphon/contracts";
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { expect, it } from "vitest";
import { createLogger } from "../process/logger.ts";
import { levelOf, logRecord } from "./record-line.ts";
import { dispatchRecord, intentRecord, routedRecord } from "@antiphon/contracts/testing/records";

type Line = Record<string, unknown>;

function stored(record: NewRecord, seq: number): StoredRecord {
  const digest = digestOf(encode(record));
  return { v: 1, ...record, seq, digest, subject: subjects.journal(record), at: new Date(0) };
}

function logger(level = "info"): { lines: Line[]; log: ReturnType<typeof createLogger> } {
  const lines: Line[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  return { lines, log: createLogger("t", { level, destination: { write } }) };
}

const commit = "c".repeat(40);
const of = (type: string, epoch: number, body: object): NewRecord =>
  ({
    type,
    runId: "run_a",
    taskId: type === "closed" ? null : "T-001",
    epoch,
    cause: null,
    body,
  }) as NewRecord;
const check = (durationMs: number) => ({ command: "true", exitCode: 0, durationMs });

it("logs one line per step with its run, task and epoch, and with code and duration if there are any", () => {
  const { log, lines } = logger();
  const steps = [
    intentRecord("run_a"),
    routedRecord("run_a"),
    dispatchRecord("run_a", "T-001", 1),
    of("claim", 1, { associate: "associate_1", incarnation: "i" }),
    of("result", 1, {
      kind: "abandoned",
      associate: "associate_1",
      code: "ANT_SANDBOX_FAILED",
      message: "m",
    }),
    of("verdict", 2, { verdict: "FAIL", code: "ANT_VERIFY_CHECK_FAILED", checks: [check(5.4), check(7.2)] }),
    of("landing", 3, { kind: "landed", ref: "refs/heads/antiphon/run_a", commit, previous: null }),
    of("closed", 0, { status: "succeeded", code: null }),
  ];
  for (const [at, record] of steps.entries()) logRecord(log, stored(record, at + 1));
  const at = { level: "info", run: "run_a", task: "T-001" };
  expect(lines).toMatchObject([
    { level: "info", run: "run_a", epoch: 0, seq: 1, msg: "accepted", by: "local" },
    { level: "info", run: "run_a", epoch: 0, msg: "routed", workflow: "BUILD", tasks: 1 },
    { ...at, epoch: 1, msg: "dispatched" },
    { ...at, epoch: 1, msg: "claimed", associate: "associate_1" },
    { ...at, epoch: 1, msg: "result", result: "abandoned", code: "ANT_SANDBOX_FAILED" },
    { ...at, epoch: 2, msg: "verdict", verdict: "FAIL", code: "ANT_VERIFY_CHECK_FAILED", ms: 13 },
    { ...at, epoch: 3, msg: "landed", ref: "refs/heads/antiphon/run_a", commit },
    { run: "run_a", msg: "closed", status: "succeeded" },
  ]);
  expect(lines.at(-1)).not.toHaveProperty("task");
});

it("a level above info does not even look at a record", () => {
  const { log, lines } = logger("warn");
  const untouched = new Proxy({} as StoredRecord, {
    get: () => {
      throw new Error("looked at");
    },
  });
  logRecord(log, untouched);
  expect(lines).toEqual([]);
});

it("a mistake of the caller is logged as info, other failures as warnings; a coded failure has no stack", () => {
  expect(levelOf(new AntiphonError("ANT_REPO_NOT_FOUND"))).toBe("info");
  expect(levelOf(new AntiphonError("ANT_GIT_FAILED"))).toBe("warn");
  expect(levelOf(new AntiphonError("ANT_RUN_CANCELED"))).toBe("warn");
  const { log, lines } = logger();
  const cause = new Error("ENOENT");
  log.info({
    err: new AntiphonError("ANT_REPO_NOT_FOUND", "nothing at /x", { data: { path: "/x" }, cause }),
  });
  log.warn({ err: new Error("a bug") });
  expect(lines[0]?.["err"]).toEqual({
    code: "ANT_REPO_NOT_FOUND",
    message: "nothing at /x",
    data: { path: "/x" },
    cause: "ENOENT",
  });
  expect(lines[1]?.["err"]).toMatchObject({
    message: "a bug",
    stack: expect.stringContaining("at ") as string,
  });
});
