import { digestOf, encode, subjects } from "@antiphon/contracts";
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import {
  closedRecord,
  dispatchRecord,
  intentRecord,
  reportedBody,
  resultRecord,
  routedRecord,
  verdictRecord,
} from "@antiphon/contracts/testing/records";
import { factsOf } from "@antiphon/run";
import { describe, expect, it } from "vitest";
import { sideEventOf } from "./side-event.ts";
import { wordOf } from "./word.ts";

const RUN = "run_1";
const AT = Date.UTC(2026, 0, 1);

function stored(records: readonly NewRecord[]): StoredRecord[] {
  return records.map((record, i) => {
    const digest = digestOf(encode(record));
    const subject = subjects.journal(record);
    return { ...record, v: 1, seq: i + 1, digest, subject, at: new Date(AT + i) };
  });
}

const asks = (task: string, epoch = 1): NewRecord[] => [
  dispatchRecord(RUN, task, epoch),
  resultRecord(
    RUN,
    task,
    epoch,
    reportedBody(task, { status: "needs_input", key: "k", questions: ["Which?"] }),
  ),
];
const passes = (task: string, epoch = 1): NewRecord[] => [
  dispatchRecord(RUN, task, epoch),
  resultRecord(RUN, task, epoch, reportedBody(task, { status: "ok", key: "k" })),
  verdictRecord(RUN, task, epoch),
];
const asking = (): NewRecord[] => [intentRecord(RUN), routedRecord(RUN), ...asks("T-001")];
const awaiting = (needed = 1, principal = "ann"): NewRecord[] => [
  intentRecord(RUN, "do it", { options: { approvals: { needed } }, principal }),
  routedRecord(RUN),
  ...passes("T-001"),
];

function say(records: readonly NewRecord[], body: object, by = "ben") {
  const event = sideEventOf(body);
  if (event.kind === "cancel" || event.kind === "message") throw new Error("that is no answer");
  return wordOf(factsOf(stored(records)), event, by);
}
/** The records followed by an answer or decision. */
function after(records: readonly NewRecord[], body: object, by = "ben"): NewRecord[] {
  const { record } = say(records, body, by);
  if (record === null) throw new Error("there is nothing to write");
  return [...records, record];
}
const digestOfVerdict = (records: readonly NewRecord[]): string =>
  stored(records).findLast(({ type }) => type === "verdict")?.digest ?? "";
const code = (expected: string, data: object = {}) =>
  expect.objectContaining({ code: expected, data: expect.objectContaining(data) as object }) as Error;

const approve = { event: "approval", choice: "approve" };
const reject = { event: "approval", choice: "reject", reason: "too wide" };
const changes = { event: "approval", choice: "changes", reason: "shorter" };
const answer = { event: "answer", answers: ["blue"] };

describe("an answer to a run that asks for a check", () => {
  const lacks = (...more: string[]): NewRecord[] => {
    const asks = ["Which command proves it?", ...more].map((question) => ({ question, tasks: ["T-001"] }));
    const body = {
      verdict: "UNVERIFIABLE" as const,
      code: "ANT_VERIFY_NO_CHECK",
      commit: null,
      tree: null,
      asks,
    };
    const record = verdictRecord(RUN, "T-001", 1) as Extract<NewRecord, { type: "verdict" }>;
    return [intentRecord(RUN), routedRecord(RUN), { ...record, body: { ...record.body, ...body } }];
  };

  it("is recorded for the question, and its writer is one of those who asked for the work", () => {
    const { step, record, isUnproven } = say(lacks(), { event: "answer", answers: ["npm test"] });
    expect([step.id, step.epoch, isUnproven]).toEqual(["T-001", 1, undefined]);
    expect(record).toMatchObject({
      ...{ type: "input", taskId: "T-001", epoch: 1 },
      body: { event: "answer", answers: ["npm test"], by: "ben", instructs: true },
    });
    expect(say(lacks(), reject).record?.body).toMatchObject({ choice: "reject" });
    expect(say(lacks(), { ...approve, answers: ["make"] }).record?.body).toMatchObject({ answers: ["make"] });
    expect(() => say(after(lacks(), answer), answer, "cleo")).toThrow(code("ANT_RUN_NOT_WAITING"));
  });

  it("that takes the change without proof says so, because it needs the right for that", () => {
    expect(say(lacks(), { event: "answer", answers: [" Unverified "] }).isUnproven).toBe(true);
    expect(say(lacks("And this?"), { event: "answer", answers: ["make", "unverified"] }).isUnproven).toBe(
      true,
    );
  });

  it.each([
    ["no command", { event: "answer", answers: ["  "] }],
    ["several lines", { event: "answer", answers: ["make\nmake test"] }],
    ["a control character", { event: "answer", answers: ["make \u0007"] }],
    ["too many answers", { event: "answer", answers: ["make", "make", "make"] }],
    ["one bad answer of two", { event: "answer", answers: ["make", ""] }],
    ["an approval without a check", approve],
    ["a request for changes", changes],
    ["a mistyped program", { event: "answer", answers: ["nmp test"] }],
  ])("is refused if it is %s, and the question stays", (_name, body) => {
    const records = lacks("And this?");
    const questions = ["Which command proves it?", "And this?"];
    expect(() => say(records, body)).toThrow(code("ANT_ANSWER_NO_CHECK", { questions }));
    expect(say(records, { event: "answer", answers: ["make"] }).record).not.toBeNull();
  });

  it("with a mistyped program is refused with the one that is meant, unless its writer says that it exists", () => {
    const given = (check: string) => () => say(lacks(), { event: "answer", answers: [check] });
    expect(given("nmp test")).toThrow(
      'did you mean "npm test"? (if there is such a program, answer "env nmp test")',
    );
    expect(given("env nmp test")().record).not.toBeNull();
  });
});

describe("an answer to a task that asks", () => {
  it("is recorded for the attempt that asks, with the choice and its reason", () => {
    const record = { type: "input", runId: RUN, taskId: "T-001", epoch: 1, cause: null };
    expect(say(asking(), answer).record).toEqual({
      ...record,
      body: { event: "answer", answers: ["blue"], by: "ben", instructs: true },
    });
    expect(say(asking(), reject).record).toEqual({
      ...record,
      body: {
        event: "approval",
        choice: "reject",
        reason: "too wide",
        answers: [],
        by: "ben",
        instructs: true,
      },
    });
    expect(say(asking(), { ...approve, answers: ["only this file"] }).record?.body).toMatchObject({
      choice: "approve",
      answers: ["only this file"],
    });
  });

  it("counts once: a second person learns who was first, with which choice and when", () => {
    const first = {
      by: "ben",
      choice: "reject",
      at: new Date(AT + 4).toISOString(),
      task: "T-001",
      epoch: 1,
    };
    expect(() => say(after(asking(), reject), approve, "cleo")).toThrow(
      code("ANT_RUN_NOT_WAITING", { first }),
    );
    expect(() => say([...after(asking(), reject), closedRecord(RUN)], approve, "cleo")).toThrow(
      code("ANT_RUN_TERMINAL", { first }),
    );
  });

  it("may be repeated by the same person, which changes nothing", () => {
    expect(say(after(asking(), approve), approve).record).toBeNull();
    expect(() => say([...after(asking(), approve), ...asks("T-001", 2).slice(0, 1)], approve)).toThrow(
      code("ANT_RUN_NOT_WAITING"),
    );
  });

  it("is refused if no task waits, the run is being canceled, or a verdict is named", () => {
    expect(() => say(asking().slice(0, 3), answer)).toThrow(code("ANT_RUN_NOT_WAITING"));
    const cancel = { by: "ann", reason: "" };
    const canceled = [
      ...asking(),
      { type: "cancel", runId: RUN, taskId: null, epoch: 0, cause: null, body: cancel } as NewRecord,
    ];
    expect(() => say(canceled, approve)).toThrow(code("ANT_RUN_NOT_WAITING"));
    const verdict = digestOf(new Uint8Array());
    expect(() => say(asking(), { ...approve, verdict })).toThrow(
      code("ANT_APPROVAL_STALE", { named: verdict }),
    );
  });
});

describe("a decision about a verified change", () => {
  it("is numbered by the run, and names the verdict it is about", () => {
    const { record } = say(awaiting(), { ...approve, reason: "fine" });
    const verdict = digestOfVerdict(awaiting());
    expect(record).toEqual({
      type: "approval",
      runId: RUN,
      taskId: null,
      epoch: 1,
      cause: null,
      body: { task: "T-001", attempt: 1, verdict, choice: "approve", by: "ben", reason: "fine" },
    });
    expect(say(after(awaiting(2), approve), reject, "cleo").record).toMatchObject({ epoch: 2 });
  });

  it("counts once per person; the same person may still reject", () => {
    const one = after(awaiting(2), approve);
    expect(say(one, approve).record).toBeNull();
    expect(say(one, reject).record).toMatchObject({ body: { choice: "reject" } });
  });

  it("does not count as approval if it comes from the requester of the run or from a shared name", () => {
    expect(() => say(awaiting(), approve, "ann")).toThrow(code("ANT_APPROVAL_OWN", { by: "ann" }));
    expect(() => say(awaiting(), approve, "token")).toThrow(code("ANT_APPROVAL_OWN", { by: "token" }));
    expect(say(awaiting(), reject, "ann").record).not.toBeNull();
    expect(say(awaiting(1, "local"), approve, "local").record).not.toBeNull();
  });

  it("does not count if it comes from who chose the proof of the run that this one retries or forks", () => {
    const [intent, ...rest] = awaiting();
    if (intent?.type !== "intent") throw new Error("no intent");
    const again: NewRecord[] = [{ ...intent, body: { ...intent.body, asked_by: ["ben"] } }, ...rest];
    expect(() => say(again, approve, "ben")).toThrow(/ben chose the proof/);
    expect(() => say(again, approve, "ben")).toThrow(code("ANT_APPROVAL_OWN", { by: "ben" }));
    expect(say(again, approve, "cleo").record).not.toBeNull();
  });

  it("is refused as stale if it names another verdict than the waiting one", () => {
    const first = digestOfVerdict(awaiting());
    const second = [...after(awaiting(), changes), ...passes("T-001", 2)];
    const waits = digestOfVerdict(second);
    expect(waits).not.toBe(first);
    expect(() => say(second, { ...approve, verdict: first })).toThrow(
      code("ANT_APPROVAL_STALE", { named: first, waits }),
    );
    expect(say(second, { ...approve, verdict: waits }).record).toMatchObject({
      epoch: 2,
      body: { attempt: 2 },
    });
  });

  it("is refused once the change is decided", () => {
    const verdict = digestOfVerdict(awaiting());
    for (const decided of [approve, reject, changes]) {
      const records = after(awaiting(), decided);
      const other = decided === reject ? approve : reject;
      for (const late of [other, { ...other, verdict }])
        expect(() => say(records, late, "cleo")).toThrow(
          code("ANT_RUN_NOT_WAITING", { first: expect.objectContaining({ by: "ben" }) as object }),
        );
      expect(say(records, decided).record).toBeNull();
    }
  });

  it("is not an answer and takes no answers", () => {
    expect(() => say(awaiting(), answer)).toThrow(code("ANT_RUN_NOT_WAITING"));
    expect(() => say(awaiting(), { ...approve, answers: ["yes"] })).toThrow(
      code("ANT_CONTRACT_INVALID", { path: "/answers" }),
    );
  });
});

describe("several waiting tasks", () => {
  const two = (): NewRecord[] => {
    const [one, other] = [routedRecord(RUN), routedRecord(RUN, "T-002")];
    const tasks = [one, other].flatMap((record) => (record.type === "routed" ? record.body.tasks : []));
    const both = { ...one, body: { ...one.body, tasks } } as NewRecord;
    return [intentRecord(RUN), both, ...asks("T-001"), ...asks("T-002")];
  };

  it("must be named, and are answered one by one", () => {
    expect(() => say(two(), answer)).toThrow(code("ANT_RUN_NOT_WAITING", { waiting: ["T-001", "T-002"] }));
    const one = after(two(), { ...answer, task: "t-002" });
    expect(one.at(-1)).toMatchObject({ taskId: "T-002" });
    expect(say(one, answer).record).toMatchObject({ taskId: "T-001" });
  });
});

describe("an approval by somebody who told the agent something", () => {
  const told = (by: string): NewRecord => {
    const body = { task: "T-001", attempt: 1, text: "keep the name", by };
    return { type: "message", runId: RUN, taskId: null, epoch: 1, cause: null, body };
  };

  it("does not count, as one of the requester does not", () => {
    const records = [...awaiting(), told("ben")];
    const own = code("ANT_APPROVAL_OWN", { by: "ben", requester: "ann" });
    expect(() => say(records, approve)).toThrow(own);
    expect(say(records, approve, "eve").record).toMatchObject({ type: "approval", body: { by: "eve" } });
    expect(say(records, reject).record).toMatchObject({ body: { choice: "reject", by: "ben" } });
  });

  it("counts if nobody knows who told it", () => {
    expect(say([...awaiting(1, "local"), told("local")], approve, "local").record).not.toBeNull();
  });
});

describe("an approval by somebody who answered the agent", () => {
  const answered = (by: string, body: object = answer): NewRecord[] => [
    ...after(
      [
        intentRecord(RUN, "do it", { options: { approvals: { needed: 1 } }, principal: "ann" }),
        routedRecord(RUN),
        ...asks("T-001"),
      ],
      body,
      by,
    ),
    ...passes("T-001", 2),
  ];

  it("does not count, in whatever words it was answered; anybody may still reject", () => {
    for (const words of [answer, approve, changes, { ...approve, answers: ["plus"] }]) {
      const own = code("ANT_APPROVAL_OWN", { by: "ben", requester: "ann" });
      expect(() => say(answered("ben", words), approve), JSON.stringify(words)).toThrow(own);
    }
    expect(say(answered("ben"), approve, "eve").record).toMatchObject({ body: { by: "eve" } });
    expect(say(answered("ben"), reject).record).toMatchObject({ body: { choice: "reject", by: "ben" } });
  });

  it("counts from the others if the requester has answered", () => {
    expect(say(answered("ann"), approve).record).toMatchObject({ body: { by: "ben" } });
  });
});
