import { expect, it } from "vitest";
import { transcriptLines } from "./transcript-lines.ts";

it("shows the texts of each event behind its kind, without ids and times", () => {
  const events = [
    { event: "start", model: "m", tools: ["bash"] },
    {
      type: "assistant",
      uuid: "u",
      message: { id: "msg_1", content: [{ type: "text", text: "It subtracts." }] },
    },
    {
      type: "item.completed",
      item: { id: "i1", type: "command_execution", command: "npm test", exit_code: 1 },
    },
  ];
  const text = `${events.map((event) => JSON.stringify(event)).join("\n")}\nno json\n`;
  expect(transcriptLines(text, "jsonl")).toEqual([
    "start",
    "assistant  It subtracts.",
    "item.completed  npm test",
    "no json",
  ]);
});

it("reads a document of messages, and shows one that is none as it is", () => {
  const document = {
    info: { cost: 1 },
    messages: [
      { role: "user", content: "Fix it" },
      { role: "assistant", content: "ok" },
    ],
  };
  expect(transcriptLines(JSON.stringify(document), "json")).toEqual(["user  Fix it", "assistant  ok"]);
  expect(transcriptLines("half {", "json")).toEqual(["half {"]);
  expect(transcriptLines("[1]", "json")).toEqual(["1"]);
  expect(transcriptLines("a\nb", "txt")).toEqual(["a", "b"]);
});

it("bounds what it shows of one text and of a deep event", () => {
  const deep = `${'{"a":'.repeat(100)}"x"${"}".repeat(100)}`;
  expect(transcriptLines(deep, "jsonl")).toEqual(["event"]);
  const [line = ""] = transcriptLines(JSON.stringify({ text: "x".repeat(5000) }), "jsonl");
  expect(line.length).toBeLessThan(700);
});
