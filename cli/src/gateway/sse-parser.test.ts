import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseParser } from "./sse-parser.ts";

const STREAM = ': beat\n\nid: 7\nevent: claim\ndata: {"a":1}\n\ndata: one\ndata: two\n\n: beat\n\n';

describe("the reader of server-sent events", () => {
  it("yields whole events with id, name and data, and skips comments", () => {
    expect(new SseParser().push(STREAM)).toEqual([
      { id: "7", event: "claim", data: '{"a":1}' },
      { id: null, event: "message", data: "one\ntwo" },
    ]);
  });

  it("does not depend on where the chunks are cut", () => {
    const whole = new SseParser().push(STREAM);
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 8 }), (cuts) => {
        const parser = new SseParser();
        const borders = [0, ...cuts.sort((a, b) => a - b), STREAM.length];
        const events = borders.slice(1).flatMap((end, i) => parser.push(STREAM.slice(borders[i], end)));
        expect(events).toEqual(whole);
      }),
    );
  });

  it("keeps an unfinished event until its end arrives", () => {
    const parser = new SseParser();
    expect(parser.push("data: x\n")).toEqual([]);
    expect(parser.push("\n")).toHaveLength(1);
  });
});
