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
