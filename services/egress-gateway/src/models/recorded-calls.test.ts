import { describe, expect, it } from "vitest";
import type { ModelRecording } from "@antiphon/contracts";
import { firstDifference, RecordedCalls } from "./recorded-calls.ts";

const HOST = "models.example";
const PATH = "/v1/chat/completions";

function recorded(content: string, more: Partial<ModelRecording> = {}): ModelRecording {
  return {
    v: 1,
    request_digest: `sha256-${"a".repeat(43)}`,
    request: { host: "127.0.0.1", path: PATH, body: bodyOf(content) },
    asked: { host: HOST, port: 443, path: PATH },
    response: { status: 200, content_type: null, text: `answer to ${content}`, truncated: false },
    model: "m",
    charged: { tokens: 1, usd_micro: 1 },
    ...more,
  };
}

function bodyOf(content: string, model = "m"): Record<string, unknown> {
  return { model, max_tokens: 8, messages: [{ role: "user", content }] };
}

function asked(content: string, model = "m", path = PATH) {
  return { host: HOST, path, body: bodyOf(content, model) };
}

describe("recorded calls", () => {
  it("answer equal requests in any order, each once, and nothing differs then", () => {
    const calls = new RecordedCalls([recorded("a"), recorded("b"), recorded("a")]);
    const numbers = ["b", "a", "a"].map((content) => calls.answerTo(asked(content))?.number);
    expect(numbers).toEqual([2, 1, 3]);
    expect([calls.served, calls.strayed]).toEqual([3, null]);
    expect(calls.answerTo(asked("a"))).toBeNull();
    expect(calls.strayed).toContain("is not in the record, which has 3");
  });

  it("name the first request that differs, and answer it with the oldest that is left", () => {
    const calls = new RecordedCalls([recorded("today is Monday"), recorded("b")]);
    expect(calls.answerTo(asked("today is Friday"))?.number).toBe(1);
    expect(calls.answerTo(asked("c"))?.number).toBe(2);
    expect(calls.strayed).toBe(
      'call 1 of 2: messages[0].content was "today is Monday" and is "today is Friday"',
    );
  });

  it("answer only equal requests of an attempt that goes on from a lost one", () => {
    const calls = new RecordedCalls([recorded("a"), recorded("b")], { equalOnly: true });
    expect(calls.answerTo(asked("b"))?.number).toBe(2);
    expect(calls.answerTo(asked("a, and what a person said"))).toBeNull();
    expect(calls.answerTo(asked("a"))?.number).toBe(1);
  });

  it("are those of the same host, path and model only", () => {
    const calls = new RecordedCalls([recorded("a")]);
    expect(calls.answerTo(asked("a", "other"))).toBeNull();
    expect(calls.answerTo(asked("a", "m", "/v1/responses"))).toBeNull();
    expect(calls.answerTo({ ...asked("a"), host: "127.0.0.1" })).toBeNull();
    expect(calls.answerTo(asked("a"))?.number).toBe(1);
  });

  it("of a time without places were sent where they left to", () => {
    const { asked: _asked, ...old } = recorded("a");
    expect(new RecordedCalls([old, recorded("b"), recorded("c")]).places).toEqual([
      { host: "127.0.0.1", port: 443 },
      { host: HOST, port: 443 },
    ]);
  });

  it("do not differ in what the gateway itself may change before a call leaves", () => {
    const calls = new RecordedCalls([recorded("a")]);
    const body = { ...bodyOf("a"), max_tokens: 32_000, tools: [{ type: "web_search" }] };
    calls.answerTo({ ...asked("a"), body });
    expect(calls.strayed).toBeNull();
  });
});

describe("the first difference", () => {
  it.each([
    [{ a: [1, 2] }, { a: [1] }, "x.a[1] was 2 and is absent"],
    [{ a: 1 }, { a: { b: 1 } }, 'x.a was 1 and is {"b":1}'],
    [{}, { a: null }, "x.a was absent and is null"],
    ["y".repeat(300), `${"y".repeat(200)}z`, `x was …${"y".repeat(120)}… and is …${"y".repeat(20)}z"`],
  ])("of %j and %j is named", (one, other, expected) => {
    const found = firstDifference(one, other, "x");
    if (typeof one === "string") expect(found?.length).toBeLessThan(320);
    else expect(found).toBe(expected);
  });

  it("of equal values is none", () => {
    expect(firstDifference({ a: [{ b: 1 }] }, { a: [{ b: 1 }] }, "x")).toBeNull();
  });
});

describe("recordings without secrets", () => {
  const mask = (text: string) => text.replaceAll("canary-1", "********");
  const starred = {
    status: 200,
    content_type: null,
    text: "********",
    truncated: false,
    masked: true as const,
  };

  it("answer the request that had the secret, since both sides are compared without it", () => {
    const calls = new RecordedCalls([recorded("a"), recorded("the key ********")], { equalOnly: true, mask });
    expect(calls.answerTo(asked("the key canary-1"))?.number).toBe(2);
    expect(calls.strayed).toBeNull();
  });

  it("give an answer with stars in it to a replay only, which says so", () => {
    const replay = new RecordedCalls([recorded("a", { response: starred })], { mask });
    expect(replay.answerTo(asked("a"))?.number).toBe(1);
    expect(replay.strayed).toContain("stars in place of a secret");
    const live = new RecordedCalls([recorded("a", { response: starred })], { isLive: true, mask });
    expect(live.answerTo(asked("a"))).toBeNull();
  });
});
