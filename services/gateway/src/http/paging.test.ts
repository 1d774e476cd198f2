import { AntiphonError } from "@antiphon/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cursorText, limitOf, linkOf, numberAfter, pageOf, runCursorOf } from "./paging.ts";

const upTo = [40, 7];
const JOURNAL = { part: "journal", upTo, after: { at: 1_764_000_000_000, runId: "run_4f0c" } } as const;
const ARCHIVE = { part: "archive", upTo, below: [41, 3] } as const;
const text = (at: object | number): string => cursorText("runs", at);
const refused = expect.objectContaining({
  code: "ANT_CONTRACT_INVALID",
  data: { path: "cursor" },
}) as unknown;

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

describe("a cursor of the list of runs", () => {
  it.each([JOURNAL, ARCHIVE])("is read as it was written", (cursor) => {
    expect(runCursorOf({ cursor: text(cursor) }, 2)).toEqual(cursor);
  });

  it.each([
    ["of another list", cursorText("evidence", JOURNAL)],
    ["of a deployment with other partitions", text({ ...JOURNAL, upTo: [40] })],
    ["with a sequence below zero", text({ ...ARCHIVE, below: [-1, 3] })],
    ["with a fraction", text({ ...ARCHIVE, upTo: [0.5, 3] })],
    ["with a run's id that is none", text({ ...JOURNAL, after: { at: 1, runId: "run_*" } })],
    ["without a time", text({ ...JOURNAL, after: { runId: "run_a" } })],
    ["of a part that does not exist", text({ ...ARCHIVE, part: "attic" })],
    ["of nothing", cursorText("runs", 0)],
    ["that is empty", ""],
    ["that is too long", "a".repeat(2_001)],
  ])("%s is refused", (_what, cursor) => {
    expect(outcome(() => runCursorOf({ cursor }, 2))).toEqual(refused);
  });

  it("is refused whatever else it is: no text gets another answer", () => {
    const any = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.json().map((json) => Buffer.from(json).toString("base64url")),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(["runs", value])).toString("base64url")),
    );
    fc.assert(
      fc.property(any, (cursor) => {
        const error = outcome(() => runCursorOf({ cursor }, 2));
        expect(error instanceof AntiphonError && error.code).toBe("ANT_CONTRACT_INVALID");
      }),
    );
  });
});

describe("a list that is read as a whole", () => {
  const items = [3, 5, 8, 13];
  const page = (query: object) => pageOf("events", items, (item) => item, query);

  it("is whole without a limit, and otherwise goes on after the last item shown", () => {
    expect(page({})).toEqual({ items, next: null });
    const first = page({ limit: "3" });
    expect(first.items).toEqual([3, 5, 8]);
    expect(page({ limit: "3", cursor: first.next ?? "" })).toEqual({ items: [13], next: null });
    expect(page({ limit: "4" })).toEqual({ items, next: null });
  });

  it("goes on although the item that a cursor names has gone", () => {
    const { next } = pageOf("approvals", items, (item) => item, { limit: "2" });
    const rest = [3, 8, 13];
    expect(pageOf("approvals", rest, (item) => item, { cursor: next ?? "" }).items).toEqual([8, 13]);
  });
});

it.each(["0", "1001", "-1", "1e2", "", " 1", "10000"])("the limit %j is refused", (limit) => {
  expect(outcome(() => limitOf({ limit }, 20))).toMatchObject({ data: { path: "limit" } });
});

it("a number in a cursor counts records, so it is whole and not negative", () => {
  expect(numberAfter("dead-letters", {})).toBeNull();
  expect(numberAfter("dead-letters", { cursor: cursorText("dead-letters", 12) })).toBe(12);
  for (const at of [-1, 0.5, 2 ** 60, {}])
    expect(outcome(() => numberAfter("dead-letters", { cursor: cursorText("dead-letters", at) }))).toEqual(
      refused,
    );
});

it("a Link keeps the other parameters of the request", () => {
  expect(linkOf("/v1/runs?limit=2&cursor=old", "new")).toBe('</v1/runs?limit=2&cursor=new>; rel="next"');
});
