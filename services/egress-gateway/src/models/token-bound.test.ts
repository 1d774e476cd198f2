import { expect, it } from "vitest";
import { tokenBound } from "./token-bound.ts";

it("counts prose and code well below their bytes", () => {
  const prose = "The gateway reads the whole body and reserves the most that the call can cost. ".repeat(50);
  expect(tokenBound(prose) / prose.length).toBeLessThan(0.6);
  const code =
    "export function readCall(endpoint: Endpoint, bytes: Buffer): ModelCall {\n  return null;\n}\n".repeat(
      50,
    );
  expect(tokenBound(code) / code.length).toBeLessThan(0.75);
});

it.each([
  ["letters that are no words", "qzxkvwjqzxkvwj".repeat(50)],
  ["capitals", "QZXKAWEJ".repeat(50)],
  ["one endless word", "abe".repeat(500)],
  ["digits", "0123456789".repeat(50)],
  ["signs", "!@#$%^&*".repeat(50)],
  ["characters of three bytes", "日本語".repeat(50)],
  ["characters of four bytes", "🜁".repeat(50)],
])("counts each byte of %s", (_, text) => {
  expect(tokenBound(text)).toBe(Buffer.byteLength(text));
});

it("counts a run of blanks once for eight, and one blank before a word not at all", () => {
  expect(tokenBound("a b")).toBe(2);
  expect(tokenBound(" ".repeat(80))).toBe(10);
});
