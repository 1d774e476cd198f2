import { describe, expect, it } from "vitest";
import { compactLine, fatalIn, LineSplitter } from "./log-line.ts";

describe("a service's log line", () => {
  it("is reduced to its level, message and useful fields", () => {
    const line =
      '{"level":"warn","time":"2026-11-22T02:00:00Z","name":"router","node":"r_1","msg":"slow","ms":12}';
    expect(compactLine(line)).toEqual({ level: "warn", text: "slow node=r_1 ms=12" });
  });

  it("may have pino's numbers for levels", () => {
    expect(compactLine('{"level":50,"msg":"broken","err":{"message":"why"}}')).toEqual({
      level: "error",
      text: "broken err=why",
    });
  });

  it("may be nats-server's own", () => {
    expect(compactLine("[12] 2026/11/22 02:00:00.1 [WRN] disk is slow")).toEqual({
      level: "warn",
      text: "disk is slow",
    });
  });

  it("is kept unchanged if it has neither format", () => {
    expect(compactLine("{ not json")).toEqual({ level: "info", text: "{ not json" });
  });

  it("gives the code of an end, in either of its two forms, and nothing of another line", () => {
    const end = { level: "fatal", code: "ANT_CONFIG_INVALID", remedy: "Correct it." };
    const told = { code: "ANT_CONFIG_INVALID", message: "no port", remedy: "Correct it." };
    expect(fatalIn(JSON.stringify({ ...end, message: "no port" }))).toEqual(told);
    expect(fatalIn(JSON.stringify({ ...end, msg: "no port" }))).toEqual(told);
    for (const line of [
      "{ not json",
      "fatal",
      '{"level":"fatal"}',
      JSON.stringify({ ...told, level: "warn" }),
    ])
      expect(fatalIn(line)).toBeNull();
  });

  it("comes out whole regardless of how the chunks are cut, and is bounded in length", () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    splitter.push("one\ntw");
    splitter.push("o\n");
    expect(lines).toEqual(["one", "two"]);
    splitter.push("x".repeat(70_000));
    expect(lines).toHaveLength(3);
  });
});
