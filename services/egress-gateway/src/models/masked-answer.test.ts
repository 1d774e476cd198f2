import { expect, test } from "vitest";
import { maskOf } from "../policy/secret-shapes.ts";
import { maskedAnswer } from "./masked-answer.ts";

const KEY = `sk-ant-${"a1B2".repeat(10)}`;
const CANARY = "canary-9c1e77ab";
const mask = maskOf([CANARY]);
const stream = (events: readonly object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const delta = (content: string) => ({ choices: [{ delta: { content } }] });

test.each([
  KEY,
  `ghp_${"a".repeat(36)}`,
  "AKIAABCDEFGHIJKLMNOP",
  `AIza${"b".repeat(35)}`,
  `xoxb-${"1".repeat(20)}`,
  `eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(20)}`,
  `-----BEGIN PRIVATE KEY-----\n${"d".repeat(64)}\n-----END PRIVATE KEY-----`,
  CANARY,
  Buffer.from(CANARY).toString("base64").replace(/=+$/, ""),
])("%s is masked, and its length is kept", (secret) => {
  const text = `before ${secret} after`;
  expect(mask(text)).toBe(`before ${"*".repeat(secret.length)} after`);
});

test.each(["sketch-book-of-a-very-long-name-indeed", "a task-1234", "skip", "AKIA", "npm_config_cache"])(
  "%s is no secret",
  (text) => {
    expect(mask(text)).toBe(text);
  },
);

test("a secret in the pieces of a stream is masked in each of them, and nothing else changes", () => {
  const pieces = [KEY.slice(0, 5), KEY.slice(5, 20), KEY.slice(20), " is the key"];
  const masked = maskedAnswer(`${stream(pieces.map(delta))}data: [DONE]\n\n`, true, mask);
  const stars = pieces.map((piece, i) => (i === 3 ? piece : "*".repeat(piece.length)));
  expect(masked).toBe(`${stream(stars.map(delta))}data: [DONE]\n\n`);
});

test("an answer without a secret, or that is none, stays as it is", () => {
  for (const text of [stream([delta("hello")]), "data: {\n\n<html>", ""])
    expect(maskedAnswer(text, true, mask)).toBe(text);
  expect(maskedAnswer(`{"key":"${KEY}"}`, false, mask)).toBe(`{"key":"${"*".repeat(KEY.length)}"}`);
});

test("pieces that come by turns are masked with those of their own answer or part", () => {
  const turns = (piece: string, other: string, of: (index: number, text: string) => object): string =>
    stream([of(0, piece.slice(0, 9)), of(1, other), of(0, piece.slice(9))]);
  const shapes: ((index: number, text: string) => object)[] = [
    (index, content) => ({ choices: [{ index, delta: { content } }] }),
    (index, text) => ({ choices: [{ delta: { tool_calls: [{ index, function: { arguments: text } }] } }] }),
    (index, text) => ({ type: "content_block_delta", index, delta: { text } }),
    (output_index, text) => ({ type: "response.output_text.delta", output_index, delta: text }),
  ];
  for (const of of shapes)
    expect(maskedAnswer(turns(KEY, "hello there", of), true, mask)).toBe(
      turns("*".repeat(KEY.length), "hello there", of),
    );
});

test("a mask does not reach from one text into the next, so JSON stays JSON", () => {
  const marks = { a: "-----BEGIN PRIVATE KEY-----", b: "-----END PRIVATE KEY-----" };
  const whole = maskedAnswer(JSON.stringify({ ...marks, c: KEY }), false, mask);
  expect(JSON.parse(whole)).toEqual({ ...marks, c: "*".repeat(KEY.length) });
  const events = stream([
    { type: "x", text: marks.a },
    { type: "y", text: marks.b },
  ]);
  expect(maskedAnswer(events, true, mask)).toBe(events);
});

test("a secret is masked in names, in values that a second one hides, and in lines that are no JSON", () => {
  const stars = "*".repeat(KEY.length);
  expect(maskedAnswer(stream([{ [KEY]: 1 }]), true, mask)).toBe(stream([{ [stars]: 1 }]));
  expect(maskedAnswer(`{"a":"${KEY}","a":"b"}`, false, mask)).toBe('{"a":"b"}');
  const pem = `-----BEGIN PRIVATE KEY-----\n${"d".repeat(64)}\n-----END PRIVATE KEY-----`;
  expect(maskedAnswer(pem, true, mask)).toBe("*".repeat(pem.length));
});
