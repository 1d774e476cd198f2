import { expect, test } from "vitest";
import { completePack } from "./pack-files.ts";

const usage = { tokens: ["used"], adds: "sum" } as const;
const from = { file: ".own.jsonl", format: "jsonl" } as const;
const completed = (parts: object) => () =>
  completePack({ name: "own", argv: ["own"], prompt: "stdin", ...parts }, () => null);

test.each([
  ["lines of its transcript", { usage, transcript: { format: "jsonl" } }],
  ["a list in its transcript", { usage: { ...usage, list: "messages" }, transcript: { format: "json" } }],
  ["lines of a file of its own", { usage: { ...usage, from }, transcript: { format: "text" } }],
  ["lines of a file of its own, without a transcript", { usage: { ...usage, from } }],
])("a pack may say what it has used in %s", (_, parts) => {
  expect(completed(parts)).not.toThrow();
});

test.each([
  ["a transcript that it does not name", { usage }, /names none/],
  ["a transcript that is text", { usage, transcript: { format: "text" } }, /is text/],
  [
    "a list in a transcript of lines",
    { usage: { ...usage, list: "messages" }, transcript: { format: "jsonl" } },
    /one event a line/,
  ],
  [
    "the file of its transcript, named again",
    { usage: { ...usage, from }, transcript: { file: from.file, format: "jsonl" } },
    /leave it out/,
  ],
  ["a list in a file of lines", { usage: { ...usage, from, list: "messages" } }, /one event a line/],
  ["no number", { usage: { adds: "sum" }, transcript: { format: "jsonl" } }, /no number/],
] as const)("a pack that would say what it has used in %s is refused", (_, parts, why) => {
  expect(completed(parts)).toThrow(why);
  expect(completed(parts)).toThrow(expect.objectContaining({ code: "ANT_AGENT_PACK_INVALID" }) as Error);
});
