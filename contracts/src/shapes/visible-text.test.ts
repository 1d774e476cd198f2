import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOf, visibleJson, visibleText } from "./visible-text.ts";

/** Each character of these may do harm on a terminal. */
const HARMFUL = [
  ...Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter((char) => char !== "\t"),
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(0x7f + code)),
  ..."\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e",
  ..."\u2060\u2063\u2066\u2067\u2068\u2069\u3164\ufeff\uffa0\ufff9",
  "\u{e0041}",
];

describe("visible text", () => {
  it("shows every character that may do harm as an escape of printable ASCII", () => {
    for (const char of [...HARMFUL, "\ud800"]) expect(visibleText(`a${char}b`)).toMatch(/^a\\[\x21-\x7e]+b$/);
  });

  it("names the character", () => {
    expect(visibleText("a\u001b[31m\u0007\r\n\u009b\u202e\u{e0041}")).toBe(
      "a\\x1b[31m\\x07\\r\\n\\x9b\\u202e\\u{e0041}",
    );
  });

  it("leaves readable text of any language, tabs and emoji unchanged", () => {
    for (const text of ["a\tb", "déjà vu", "日本語", "שלום", "✔️ ok ❤️", "a\\n", "e\u0301"])
      expect(visibleText(text)).toBe(text);
  });

  it("is the same when it is applied twice, and has no harmful character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const once = visibleText(text);
        expect(visibleText(once)).toBe(once);
        expect(HARMFUL.filter((char) => once.includes(char))).toEqual([]);
      }),
    );
  });

  it("splits lines at the line breaks of all systems, and at nothing else", () => {
    expect(linesOf("a\r\nb\nc\rd\u2028e")).toEqual(["a", "b", "c\rd\u2028e"]);
  });
});

describe("visible JSON", () => {
  it("is the same value, without a harmful character", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        const json = JSON.stringify(value, null, 1);
        const visible = visibleJson(json);
        expect(JSON.parse(visible)).toEqual(JSON.parse(json));
        expect(HARMFUL.filter((char) => char !== "\n" && visible.includes(char))).toEqual([]);
      }),
    );
    expect(visibleJson('"\u009b31m\u202e\u{e0041}"')).toBe('"\\u009b31m\\u202e\\udb40\\udc41"');
  });
});
