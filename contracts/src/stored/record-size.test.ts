import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limits } from "../limits.ts";
import { bodyBytes, fitsRecord, recordBodyBytes } from "./record-size.ts";

const asEncoded = (body: unknown): boolean => bodyBytes(body) <= recordBodyBytes;

/** A text that makes `body` this many bytes too large, or too small. */
function filler(body: object, beyond: number, letter: string): string {
  const room = recordBodyBytes - bodyBytes({ ...body, filler: "x".repeat(70_000) }) + 70_000 + beyond;
  return letter.repeat(Math.floor(Math.max(0, room) / Buffer.byteLength(letter)));
}

describe("fitsRecord", () => {
  test("answers as the encoded size does, for any JSON value as small as it comes", () => {
    const cases = fc.property(fc.jsonValue(), (body) => {
      expect(fitsRecord(body)).toBe(asEncoded(body));
    });
    fc.assert(cases);
  });

  test("answers as the encoded size does, for any object a few bytes beside the limit and any alphabet", () => {
    const around = fc.integer({ min: -40, max: 40 });
    const letters = fc.constantFrom("x", "ü", "漢", "😀");
    const cases = fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      around,
      letters,
      (body, by, letter) => {
        const full = { ...body, filler: filler(body, by, letter) };
        expect(fitsRecord(full)).toBe(asEncoded(full));
      },
    );
    fc.assert(cases, { numRuns: 300 });
  });

  test.each([
    [
      "keys alone are too much",
      Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`${i}`.padStart(16), 1])),
    ],
    ["a list of numbers", Array.from({ length: 20_000 }, () => Math.PI)],
    ["bytes", { file: new Uint8Array(recordBodyBytes) }],
    ["a member that is not sent", { text: "x", absent: undefined }],
  ])("answers as the encoded size does: %s", (_name, body) => {
    expect(fitsRecord(body)).toBe(asEncoded(body));
  });

  test("throws for what has no encoding, as the encoding does: a function, a circle", () => {
    const circle: Record<string, unknown> = {};
    circle["again"] = circle;
    const deep = Array.from({ length: limits.messageDepth + 5 }).reduce<unknown>((inner) => [inner], 1);
    for (const body of [{ call: () => 1 }, { big: 1n }, circle, deep])
      expect(() => fitsRecord(body)).toThrow(expect.objectContaining({ code: "ANT_CONTRACT_INVALID" }));
  });
});
