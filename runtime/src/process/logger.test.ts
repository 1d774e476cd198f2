import { describe, expect, it } from "vitest";
import { createLogger } from "./logger.ts";

describe("the logger", () => {
  it("writes JSON lines and hides secrets, also nested ones", () => {
    const lines: string[] = [];
    const log = createLogger("t", { destination: { write: (line) => lines.push(line) } });
    const given = { token: "abc", options: { password: "def", user: "u", deep: { apiKey: "ghi", n: 1 } } };
    log.info(given, "hello");
    const line = JSON.parse(lines[0] ?? "{}") as Record<string, unknown>;
    expect(line).toMatchObject({ level: "info", name: "t", msg: "hello", token: "[redacted]" });
    const deep = { apiKey: "[redacted]", n: 1 };
    expect(line["options"]).toEqual({ password: "[redacted]", user: "u", deep });
    expect(given.options.deep.apiKey).toBe("ghi"); // the caller's object is left unchanged
  });
});
