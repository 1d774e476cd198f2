import { expect, it } from "vitest";
import { COMMON_WORDS } from "./common-words.ts";
import { realTokens } from "./real-tokens.fixture.ts";
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

const capital = (word: string): string => `${word[0]?.toUpperCase()}${word.slice(1)}`;
const words = [...COMMON_WORDS];
/** Each word beside others than in the list. */
const mixed = words.map((_, i) => words[(i * 607) % words.length] ?? "");

it.each([
  ["in a row", mixed.join(" ")],
  ["with capitals", mixed.map(capital).join(" ")],
  ["in names", mixed.map((word, i) => (i % 3 === 0 ? ` ${word}` : capital(word))).join("")],
  ["in names with underscores", mixed.join("_")],
  ["in paths", mixed.join("/")],
  ["in quotes", JSON.stringify(mixed)],
  [
    "short ones in names",
    mixed
      .filter((word) => word.length <= 4)
      .map(capital)
      .join(""),
  ],
])("never counts frequent words below their real tokens: %s", (_, text) => {
  expect(tokenBound(text)).toBeGreaterThanOrEqual(realTokens(text));
});

it("has no frequent word twice, and none that is more than one token", () => {
  const forms = words.flatMap((word) => [word, capital(word), ` ${word}`, ` ${capital(word)}`]);
  expect(words).toHaveLength(1600);
  expect(forms.filter((form) => realTokens(form) !== 1)).toEqual([]);
});
