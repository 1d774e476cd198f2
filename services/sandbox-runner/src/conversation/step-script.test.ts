import { describe, expect, it } from "vitest";
import { execFileSync } from "node:child_process";
import { encodeStep, parseExit, parseHello } from "./step-script.ts";

const step = { argv: ["sh", "-c", "echo 'a b'"], cwd: "/workspace", env: { A: "1=2", B: "it's" } };

describe("a command for a supervisor", () => {
  it("is NUL-separated for the sealed one", () => {
    expect(String(encodeStep("perl", step))).toBe("/workspace\0" + "3\0sh\0-c\0echo 'a b'\0A=1=2\0B=it's");
  });

  it("is a quoted script for the plain one", () => {
    expect(String(encodeStep("sh", step))).toBe(
      "cd '/workspace' || exit 126\nexec env -i 'A=1=2' 'B=it'\\''s' 'sh' '-c' 'echo '\\''a b'\\'''\n",
    );
  });

  it("has the image's own shell where SHELL is empty", () => {
    const script = String(encodeStep("sh", { ...step, argv: ["printenv", "SHELL"], env: { SHELL: "" } }));
    expect(execFileSync("sh", { input: script.replace("/workspace", "/"), encoding: "utf8" })).toBe(
      "/bin/bash\n",
    );
  });

  it.each([
    ["a NUL in an argument", { argv: ["a\0b"] }],
    ["a NUL in a value", { env: { A: "\0" } }],
    ["no argument", { argv: [] }],
    ["an invalid variable name", { env: { "A=B": "x" } }],
    ["an empty name", { env: { "": "x" } }],
  ])("cannot be encoded with %s", (_name, changes) => {
    expect(encodeStep("perl", { ...step, ...changes })).toBe(null);
  });

  it("parses hello and exit, and nothing that only resembles them", () => {
    expect(parseHello("perl sealed=1 landlock=7")).toEqual({ kind: "perl", sealed: true, landlock: 7 });
    expect(parseHello("bash sealed=1 landlock=7")).toBe(null);
    expect(parseExit("3 0 0 0 100 200")).toMatchObject({ exitCode: 3, freeBytes: 100, freeInodes: 200 });
    expect(parseExit("0 9 1 0 -1 -1")).toMatchObject({ exitCode: 137, signal: 9, oomKills: 1 });
    expect(parseExit("0 0 0")).toBe(null);
    expect(parseExit("0 0 0 0 0 x")).toBe(null);
  });
});
