import { describe, expect, it } from "vitest";
import { createLogger } from "./logger.ts";

describe("the logger", () => {
  it("writes JSON lines and hides secrets, also nested ones", () => {
    const lines: string[] = [];
    const log = createLogger("t", { destination: { write: (line) => lines.push(line) } });
    log.info({ token: "abc", options: { password: "def", user: "u" } }, "hello");
    const line = JSON.parse(lines[0] ?? "{}") as Record<string, unknown>;
    expect(line).toMatchObject({ level: "info", name: "t", msg: "hello", token: "[redacted]" });
    expect(line["options"]).toEqual({ password: "[redacted]", user: "u" });
  });
});
