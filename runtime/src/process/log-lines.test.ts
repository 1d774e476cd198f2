import { expect, it } from "vitest";
import { turnByTurn } from "./log-lines.ts";

it("lines of one turn of the event loop leave in one write, in order, and at the latest when they are flushed", async () => {
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
