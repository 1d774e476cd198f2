import { expect, it } from "vitest";
import { turnByTurn } from "./log-lines.ts";

it("writes the lines of one event loop turn in one write, in order, or earlier when they are flushed", async () => {
  const written: string[] = [];
  const lines = turnByTurn((text) => written.push(text));
  lines.write("a\n");
  lines.write("b\n");
  expect(written).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(["a\nb\n"]);
  lines.write("c\n");
  lines.flush();
  lines.flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(["a\nb\n", "c\n"]);
});

it("writes no character that could control a terminal", () => {
  const written: string[] = [];
  const lines = turnByTurn((text) => written.push(text));
  lines.write(`${JSON.stringify({ msg: "a\u001b[2J\u009b2J\u202eb" })}\n`);
  lines.flush();
  expect(written).toEqual(['{"msg":"a\\u001b[2J\\u009b2J\\u202eb"}\n']);
});
