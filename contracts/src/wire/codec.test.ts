import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AntiphonError } from "../errors.ts";
import { canonicalJson, decode, digestOf, encode, intentIdOf, replayKey } from "./codec.ts";

const fixtures = new URL("../../fixtures/", import.meta.url);

type Golden = { valid: Record<string, unknown> };

/** The same value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

describe("MessagePack", () => {
  for (const file of readdirSync(fixtures).filter((name) => name.endsWith(".json"))) {
    const { valid } = JSON.parse(readFileSync(new URL(file, fixtures), "utf8")) as Golden;
    test(`every fixture of ${file.replace(/\.json$/, "")} is the same after MessagePack as after JSON`, () => {
      for (const document of Object.values(valid)) {
        expect(decode(encode(document))).toEqual(JSON.parse(JSON.stringify(document)));
      }
    });
  }

  test("contracts/C1: equal values have equal bytes, whatever the key order", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(Buffer.from(encode(reversed(value))).equals(encode(value))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("a files map has the same bytes whatever the order it was filled in", () => {
    const one = { files: { "b.txt": "2", "a.txt": "1" } };
    const other = { files: { "a.txt": "1", "b.txt": "2" } };
    expect(digestOf(encode(one))).toBe(digestOf(encode(other)));
    expect(canonicalJson(one)).toBe('{"files":{"a.txt":"1","b.txt":"2"}}');
  });

  test("contracts/C2: a `__proto__` key, broken bytes and a length that lies are refused by name", () => {
    const proto = Uint8Array.from([0x81, 0xa9, ...new TextEncoder().encode("__proto__"), 0x80]);
    for (const bytes of [
      proto,
      Uint8Array.from([0xc1]),
      Uint8Array.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
      new Uint8Array(),
    ]) {
      expect(() => decode(bytes)).toThrow(AntiphonError);
    }
  });
});

describe("canonical JSON", () => {
  test("contracts/C1: is the same text for every key order, and parses back", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });

  test("sorts by UTF-16 code unit, leaves out undefined, refuses values that JSON cannot express", () => {
    expect(canonicalJson({ b: 1, a: undefined, "\u{1f600}": 2, "\ufb33": 3 })).toBe(
      '{"b":1,"\u{1f600}":2,"\ufb33":3}',
    );
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, Symbol("x")]) {
      expect(() => canonicalJson(value)).toThrow(AntiphonError);
    }
  });
});

describe("names derived from content", () => {
  const input = { intent: { goal: "Fix it", task_id: "T-001" }, schemaVersion: 0, seed: "s1" };
  /** printf '%s' '[{"goal":"Fix it","task_id":"T-001"},0,"s1"]' | sha256sum */
  const BY_SHA256SUM = "776e9880002c8ff35250d52251bba1e773311661e1e332074372b5d0bb2358c9";

  test("the replay key is the same in any process, any language and for any key order", () => {
    expect(replayKey(input)).toBe(BY_SHA256SUM);
    expect(replayKey(reversed(input) as typeof input)).toBe(BY_SHA256SUM);
  });

  test("the replay key depends on each of its three parts", () => {
    const keys = [
      input,
      { ...input, intent: { ...input.intent, goal: "Fix that" } },
      { ...input, schemaVersion: 1 },
      { ...input, seed: "s2" },
    ].map(replayKey);
    expect(new Set(keys).size).toBe(4);
  });

  test("the same intent by the same principal has the same id; another principal has another", () => {
    const id = intentIdOf({ goal: "a", inputs: {}, constraints: {} }, "me");
    expect(id).toMatch(/^it_[a-z2-7]{26}$/);
    expect(intentIdOf({ constraints: {}, inputs: {}, goal: "a" }, "me")).toBe(id);
    expect(intentIdOf({ goal: "a", inputs: {}, constraints: {} }, "you")).not.toBe(id);
  });
});

describe("a bomb of MessagePack", () => {
  test.each([
    ["lists that announce more than they hold", Buffer.from("dcffff".repeat(1000), "hex")],
    ["a map that announces more than it holds", Buffer.from("dfffffffff", "hex")],
    ["lists in lists in lists", Buffer.from("91".repeat(1000), "hex")],
  ])("contracts/C2: is refused before anything is allocated: %s", (_, bytes) => {
    expect(() => decode(bytes)).toThrow(expect.objectContaining({ code: "ANT_CONTRACT_LIMIT" }));
  });
});
