import { describe, expect, it } from "vitest";
import { fit, NEW_ACCOUNT, reserve, settle } from "./ledger.ts";
import { routeOf, type Endpoint } from "./endpoint.ts";
import { readCall } from "./model-call.ts";
import { UsageReader } from "./model-usage.ts";
import { chargeOf } from "./pricing.ts";
import { EgressRefusal } from "../policy/refusal.ts";

const price = {
  input: 3_000_000,
  output: 15_000_000,
  cache_read: 300_000,
  cache_write: 6_000_000,
  max_output: 1000,
};
const read = (endpoint: Endpoint, body: unknown) =>
  readCall(endpoint, Buffer.from(JSON.stringify(body)), { m: price });
const rule = (endpoint: Endpoint, body: unknown): string | null => {
  try {
    read(endpoint, body);
    return null;
  } catch (error) {
    return error instanceof EgressRefusal ? error.rule : String(error);
  }
};

describe("a model call", () => {
  it("is bounded by the text of its body and by an answer length that is always sent", () => {
    const body = { model: "m", messages: [{ role: "user", content: "hello there" }], stream: true };
    const call = read("chat", body);
    expect(call.bodyWith(call.answer)).toEqual({
      ...body,
      max_completion_tokens: 1000,
      stream_options: { include_usage: true },
    });
    const input = call.most.tokens - 1000;
    expect(input).toBeGreaterThan(2048);
    expect(input).toBeLessThan(2048 + JSON.stringify(body).length);
    expect(call.most.usd_micro).toBe(Math.ceil(input * 6 + 1000 * 15));
    expect(read("messages", { model: "m", max_tokens: 10, messages: [] }).most.tokens).toBeLessThan(
      2048 + 100,
    );
    expect(read("chat", { ...body, n: 3, max_tokens: 10 }).most.tokens).toBeGreaterThan(30 + 2048);
  });

  it("asks for no longer answer than the price list allows, and thinks for less than it answers", () => {
    const thinking = { type: "enabled", budget_tokens: 31_999 };
    const call = read("messages", { model: "m", max_tokens: 32_000, messages: [], thinking });
    expect(call.answer).toBe(1000);
    expect(call.bodyWith(1000)).toEqual({ model: "m", max_tokens: 1000, messages: [] });
    const roomy = readCall("messages", Buffer.from(JSON.stringify({ model: "m", messages: [], thinking })), {
      m: { ...price, max_output: 4000 },
    });
    expect(roomy.bodyWith(roomy.answer)).toMatchObject({
      max_tokens: 4000,
      thinking: { budget_tokens: 3999 },
    });
  });

  it("costs the price of a cache's write only where its body asks for one", () => {
    const cost = (block: object): number =>
      read("messages", { model: "m", max_tokens: 1, messages: [], system: [block] }).most.usd_micro;
    const text = "a".repeat(4000);
    const plain = cost({ type: "text", text });
    const kept = cost({ type: "text", text, cache_control: { type: "ephemeral", ttl: "1h" } });
    expect(kept).toBeGreaterThan(1.9 * plain);
  });

  it("is refused when a part of it cannot be priced", () => {
    const ok = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] };
    expect(rule("chat", ok)).toBeNull();
    expect(rule("chat", { ...ok, model: "other" })).toBe("model:unknown");
    expect(rule("chat", { ...ok, model: "__proto__" })).toBe("model:unknown");
    expect(rule("chat", { ...ok, modalities: ["text", "audio"] })).toBe("model:field");
    expect(rule("responses", { model: "m", input: "x", previous_response_id: "r" })).toBe("model:field");
    expect(rule("messages", { model: "m", messages: [], container: "c" })).toBe("model:field");
    expect(rule("generate", { model: "m", contents: [], cachedContent: "c" })).toBe("model:field");
    expect(rule("chat", { ...ok, tools: [{ type: "function", function: { name: "f" } }] })).toBeNull();
    expect(rule("responses", { model: "m", input: "x", tools: "web_search" })).toBe("model:tools");
    expect(
      rule("messages", { model: "m", messages: [], tools: [{ name: "f", input_schema: {} }] }),
    ).toBeNull();
    expect(
      rule("messages", {
        model: "m",
        messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: "x" } }] }],
      }),
    ).toBe("model:content");
    expect(
      rule("responses", {
        model: "m",
        input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }],
      }),
    ).toBe("model:content");
    expect(rule("chat", { ...ok, max_tokens: "1" })).toBe("model:bound");
    expect(rule("chat", { ...ok, max_tokens: 0 })).toBe("model:bound");
    expect(rule("chat", { ...ok, n: 1.5 })).toBe("model:answers");
    expect(rule("chat", [])).toBe("model:body");
    const at = (shape: "openai" | "anthropic", path: string) =>
      routeOf("POST", { path, query: null }, { shape, base: null });
    expect(at("openai", "/v1/messages")).toBeNull();
    expect(at("openai", "/v1/chat/completions")).toMatchObject({ endpoint: "chat" });
  });

  it("is refused in the spelling of a field in which its answer is not bounded", () => {
    const at = (more: object): string | null => rule("generate", { model: "m", contents: [], ...more });
    expect(at({ generationConfig: { maxOutputTokens: 10 } })).toBeNull();
    expect(at({ generationConfig: { max_output_tokens: 10 } })).toBe("model:field");
    expect(at({ generation_config: { maxOutputTokens: 10 } })).toBe("model:field");
    expect(at({ a_later_field: true })).toBeNull();
  });

  it("costs no more than an image only for an image, in the field of an image", () => {
    const prose = "words of some prose, and more of it. ".repeat(40_000);
    const base64 = "QUJD".repeat(400_000);
    const chat = (part: object): number => {
      const messages = [{ role: "user", content: [part] }];
      return read("chat", { model: "m", messages }).most.tokens;
    };
    const image = (url: string): number => chat({ type: "image_url", image_url: { url } });
    expect(image(`data:image/png;base64,${base64}`)).toBeLessThan(60_000);
    expect(image(`data:image/png;base64,${prose}`)).toBeGreaterThan(200_000);
    expect(chat({ type: "text", text: `data:image/png;base64,${base64}` })).toBeGreaterThan(200_000);
    const source = { type: "base64", media_type: "image/png", data: base64 };
    const tokens = (block: object): number =>
      read("messages", { model: "m", messages: [{ role: "user", content: [block] }] }).most.tokens;
    expect(tokens({ type: "image", source })).toBeLessThan(60_000);
    expect(tokens({ type: "tool_use", id: "t", name: "f", input: source })).toBeGreaterThan(200_000);
  });

  it("keeps the split of cache writes that the first event of a stream states", () => {
    const reader = new UsageReader("messages", true);
    const written = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 20 };
    const cache_creation = { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 };
    const events = [{ message: { usage: { ...written, cache_creation } } }, { usage: written }];
    for (const event of events) reader.push(`data: ${JSON.stringify(event)}\n\n`);
    expect(reader.end()).toMatchObject({ cache_write: 0, cache_write_short: 20 });
  });

  it.each([
    [true, "sent an answer that is not one of its API"],
    [false, null],
  ])("of an answer that cannot be read, which is whole: %s, has the trouble: %s", (isWhole, trouble) => {
    const reader = new UsageReader("chat", false);
    reader.push('{"choices":[{"message":{"content":"I wi');
    expect(reader.end(isWhole)).toBeNull();
    expect(reader.trouble).toBe(trouble);
  });

  it("is charged the usage that the answer states, and has no usage when the answer states none", () => {
    const whole = (endpoint: Endpoint, document: object) => {
      const reader = new UsageReader(endpoint, false);
      reader.push(JSON.stringify(document));
      return reader.end();
    };
    expect(
      whole("chat", {
        usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
      }),
    ).toEqual({ input: 6, output: 5, cache_read: 4, cache_write: 0, cache_write_short: 0 });
    expect(
      whole("messages", { usage: { input_tokens: 3, output_tokens: 4, cache_creation_input_tokens: 5 } }),
    ).toEqual({ input: 3, output: 4, cache_read: 0, cache_write: 5, cache_write_short: 0 });
    expect(whole("chat", { choices: [] })).toBeNull();
    expect(whole("chat", { usage: { prompt_tokens: -1, completion_tokens: 5 } })).toBeNull();
    const stream = new UsageReader("messages", true);
    const text =
      'data: {"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}\n\ndata: {"type":"message_delta","usage":{"output_tokens":9}}\n\n';
    for (const letter of text) stream.push(letter);
    expect(stream.end()).toEqual({
      input: 7,
      output: 9,
      cache_read: 0,
      cache_write: 0,
      cache_write_short: 0,
    });
    expect(
      chargeOf({ input: 1, output: 1, cache_read: 1, cache_write: 1, cache_write_short: 0 }, price),
    ).toEqual({
      tokens: 4,
      usd_micro: 25,
    });
  });
});

describe("an account", () => {
  it("egress-gateway/E4: reserves before a call, settles after it, and never exceeds its budget", () => {
    const budget = { tokens: 100, usd_micro: 50 };
    const first = reserve(NEW_ACCOUNT, budget, { tokens: 60, usd_micro: 20 });
    if ("over" in first) throw new Error(first.over);
    expect(reserve(first, budget, { tokens: 41, usd_micro: 1 })).toHaveProperty("over");
    expect(reserve(first, budget, { tokens: 1, usd_micro: 31 })).toHaveProperty("over");
    const settled = settle(first, { tokens: 60, usd_micro: 20 }, { tokens: 10, usd_micro: 3 });
    expect(settled).toMatchObject({
      used: { tokens: 10, usd_micro: 3 },
      reserved: { tokens: 0, usd_micro: 0 },
      calls: 1,
    });
    expect(reserve(settled, budget, { tokens: 90, usd_micro: 47 })).not.toHaveProperty("over");
    expect(reserve(NEW_ACCOUNT, {}, { tokens: 0, usd_micro: 0 })).toHaveProperty("over");
  });

  it("fits a call's answer into what is left, waits for calls under way, and refuses what can never fit", () => {
    const wish = { answer: 5000, mostWith: (answer: number) => ({ tokens: 1000 + answer, usd_micro: 0 }) };
    expect(fit(NEW_ACCOUNT, { tokens: 10_000 }, wish)).toMatchObject({ kind: "fits", answer: 5000 });
    expect(fit(NEW_ACCOUNT, { tokens: 3000 }, wish)).toMatchObject({
      kind: "fits",
      answer: 2000,
      account: { reserved: { tokens: 3000 } },
    });
    expect(fit(NEW_ACCOUNT, { tokens: 1100 }, wish).kind).toBe("over");
    const busy = { ...NEW_ACCOUNT, reserved: { tokens: 2500, usd_micro: 0 } };
    expect(fit(busy, { tokens: 3000 }, wish).kind).toBe("wait");
  });
});
