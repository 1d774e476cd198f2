import { expect, test } from "vitest";
import { eventKind, isLastEvent, messageIn, refusalIn } from "./answer-event.ts";

test.each([
  ["chat", { error: { message: "overloaded" } }],
  ["responses", { type: "error", code: "server_error", message: "overloaded" }],
  [
    "responses",
    { type: "response.failed", response: { status: "failed", output: [], error: { code: "x" } } },
  ],
  ["responses, whole", { status: "failed", output: [], error: { code: "server_error" } }],
  ["messages", { type: "error", error: { type: "overloaded_error" } }],
  ["generate", { error: { code: 503 } }],
])("a statement that the call failed, in the API %s", (_api, event) => {
  expect(eventKind(event)).toBe("failure");
});

test.each([
  ["that holds a choice", { choices: [{ delta: { content: "a" } }], error: { message: "cut" } }],
  [
    "of a response that failed after it said something",
    { type: "response.failed", response: { output: [1] } },
  ],
  ["that nobody knows", { type: "content_block_delta" }],
  ["that is no object", "text"],
  ["of a complete answer", { error: null, output: [{ type: "message" }] }],
])("an event %s is a part of the answer", (_what, event) => {
  expect(eventKind(event)).toBe("part");
});

test.each(["message_start", "ping", "response.created"])("%s says nothing yet", (type) => {
  expect(eventKind({ type, message: { content: [] } })).toBe("other");
});

test.each([
  [{ choices: [{ finish_reason: "content_filter" }] }, "content_filter"],
  [{ type: "message_delta", delta: { stop_reason: "refusal" } }, "refusal"],
  [{ stop_reason: "refusal" }, "refusal"],
  [{ candidates: [{ finishReason: "SAFETY" }] }, "SAFETY"],
  [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, "PROHIBITED_CONTENT"],
  [{ type: "response.completed", response: { output: [{ content: [{ type: "refusal" }] }] } }, "refusal"],
  [{ choices: [{ finish_reason: "stop" }] }, null],
])("a refusal is told by how the answer ends: %j", (event, refusal) => {
  expect(refusalIn(event)).toBe(refusal);
});

test("a failure has its message where the API puts it", () => {
  expect(messageIn({ error: { message: "a" } })).toBe("a");
  expect(messageIn({ type: "response.failed", response: { error: { message: "b" } } })).toBe("b");
  expect(messageIn({ type: "error", message: "c" })).toBe("c");
  expect(messageIn({ error: "d" })).toBeNull();
});

test("the last event of a generated answer names its end, or why it is blocked", () => {
  expect(isLastEvent({ candidates: [{ finishReason: "STOP" }] })).toBe(true);
  expect(isLastEvent({ promptFeedback: { blockReason: "SAFETY" } })).toBe(true);
  expect(isLastEvent({ candidates: [{ content: {} }], usageMetadata: {} })).toBe(false);
});
