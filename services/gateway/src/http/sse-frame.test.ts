import type { StoredRecord } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import { recordFrame, resumeFrom } from "./sse-frame.ts";

const record = {
  v: 1,
  seq: 7,
  type: "cancel",
  runId: "run_1",
  taskId: null,
  epoch: 0,
  cause: null,
  digest: "sha256-x",
  subject: "s",
  at: new Date(0),
  body: { by: "local", reason: "a\nb" },
} as StoredRecord;

describe("a record as a server-sent event", () => {
  it("has its type as the event, its sequence as the id, and one line of data", () => {
    const [id, event, data, ...rest] = recordFrame(record).split("\n");
    expect([id, event]).toEqual(["id: 7", "event: cancel"]);
    expect(JSON.parse(data?.slice("data: ".length) ?? "")).toMatchObject({
      seq: 7,
      at: "1970-01-01T00:00:00.000Z",
      body: { reason: "a\nb" },
    });
    expect(rest).toEqual(["", ""]);
  });

  it("is resumed after the last one seen", () => {
    expect([resumeFrom("7"), resumeFrom(undefined), resumeFrom("")]).toEqual([8, 1, 1]);
    expect([resumeFrom("7", 7), resumeFrom("0", 0)]).toEqual([8, 1]);
    expect(() => resumeFrom("8", 7)).toThrow(
      expect.objectContaining({ code: "ANT_CONTRACT_INVALID" }) as Error,
    );
  });

  it.each(["x", "-1", "1e9", "7 ", "9999999999999999"])("is not resumed from %s, which is no id", (id) => {
    expect(() => resumeFrom(id)).toThrow(expect.objectContaining({ code: "ANT_CONTRACT_INVALID" }) as Error);
  });
});
