import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { intake, isFit } from "./intake.ts";
import { limits } from "../limits.ts";

const refusal = (value: unknown): { path: string; message: string } | null => {
  const taken = intake(value);
  return taken.ok ? null : taken.unfit;
};

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("the intake of a value", () => {
  test("contracts/C2: a JSON value is returned as a copy in plain objects", () => {
    const given = Object.freeze({
      nothing: null,
      text: "g\u{1d11e}",
      list: [true, -0.5, { deep: [] }],
      bare: Object.assign(Object.create(null) as object, { a: 1 }),
      gone: undefined,
    });
    const taken = intake(given);
    if (!taken.ok) throw new Error(taken.unfit.message);
    const { gone: _, ...rest } = given;
    expect(taken.value).toStrictEqual({ ...rest, bare: { a: 1 } });
    expect((taken.value as typeof given).list[2]).not.toBe(given.list[2]);
  });

  test("contracts/C2: no value at all is called missing", () => {
    expect(refusal(undefined)).toMatchObject({ path: "", message: "is missing" });
  });

  test.each([
    ["NaN", Number.NaN],
    ["an infinity", Number.NEGATIVE_INFINITY],
    ["a big integer", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["bytes", new Uint8Array(1)],
    ["an instance", new (class Thing {})()],
    ["what inherits", Object.create({ a: 1 }) as object],
    ["half a surrogate pair", "a\ud800"],
    ["undefined in a list", [undefined]],
  ])("%s is refused with its place", (_name, value) => {
    expect(refusal({ "a/b": [0, value] })?.path).toMatch(/^\/a~1b\/1/);
  });

  test("a key that is not a string is refused", () => {
    expect(refusal({ a: { "\udc00": 1 } })?.message).toContain("surrogate");
  });

  test("contracts/C2: the maximum depth is accepted; one more level, endless depth and a cycle are refused", () => {
    expect(refusal(nested(limits.messageDepth))).toBeNull();
    expect(refusal(nested(limits.messageDepth + 1))?.message).toContain("levels");
    expect(refusal(nested(1_000_000))?.message).toContain("levels");
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(refusal(circle)?.message).toContain("levels");
  });

  test("contracts/C2: the maximum number of values is accepted, one more is refused, and endless width stops the walk", () => {
    const full = new Array<number>(limits.messageNodes - 1).fill(0); // the list itself is a value
    expect(refusal(full)).toBeNull();
    expect(refusal([...full, 0])?.message).toContain("values");
    let looked = 0;
    const counting = Array.from({ length: 110 }, () => {
      const row: Record<string, number> = {};
      for (let i = 0; i < 1000; i += 1)
        Object.defineProperty(row, `k${i}`, { enumerable: true, get: () => (looked += 1) });
      return row;
    });
    expect(refusal(counting)?.message).toContain("values");
    expect(looked).toBeLessThanOrEqual(limits.messageNodes);
  });

  test("contracts/C2: a `__proto__` key is refused at any depth, and no prototype was touched", () => {
    const evil: unknown = JSON.parse('{"inputs":[{"__proto__":{"polluted":true}}]}');
    expect(refusal(evil)).toMatchObject({ path: "/inputs/0", found: "`__proto__`" });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

test("contracts/C2: the check without a copy takes what the copy takes", () => {
  const parts = [fc.string({ unit: "binary" }), fc.double(), fc.constant(1n), fc.date(), fc.boolean()];
  const strange = fc.anything({ values: [...parts, fc.constant("\ud800")], withNullPrototype: true });
  fc.assert(
    fc.property(strange, (value) => {
      expect(isFit(value)).toBe(intake(value).ok);
    }),
  );
  for (const value of [
    nested(limits.messageDepth),
    nested(limits.messageDepth + 1),
    JSON.parse('{"__proto__":1}'),
  ]) {
    expect(isFit(value)).toBe(intake(value).ok);
  }
  const many = (count: number): unknown => Array.from({ length: count }, () => 1);
  expect([many(limits.messageNodes - 1), many(limits.messageNodes)].map(isFit)).toEqual([true, false]);
});
