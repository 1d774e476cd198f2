/**
 * Mutates valid documents into hostile ones, deterministically. `breaks` says whether a mutation must make the document
 * invalid, so that a wrong acceptance is noticed.
 */
import { registry, SCHEMA_NAMES, type SchemaName } from "@antiphon/contracts";
import { goldenOf } from "./proof.ts";

/** xorshift32: the same seed gives the same corpus everywhere. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

type Slot = { parent: Record<string, unknown> | unknown[]; key: string | number };

function slotsOf(document: unknown): Slot[] {
  const out: Slot[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const parent = value as Record<string, unknown> | unknown[];
    const keys = Array.isArray(parent) ? parent.keys() : Object.keys(parent);
    for (const key of keys) {
      out.push({ parent, key });
      walk((parent as Record<string | number, unknown>)[key]);
    }
  };
  walk(document);
  return out;
}

const put = ({ parent, key }: Slot, value: unknown): void => {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
};

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

const wide = (keys: number): unknown =>
  Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, i]));

/** Values that are not JSON or are beyond a bound. One of these anywhere must make the document invalid. */
const POISON: readonly (() => unknown)[] = [
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => "\ud800",
  () => "a\udc00b",
  () => 1n,
  () => () => 1,
  () => Symbol("x"),
  () => new Date(0),
  () => new Map([["a", 1]]),
  () => new Uint8Array(3),
  () => Object.create({ inherited: 1 }) as unknown,
  () => deep(200),
  () => Object.defineProperty({}, "__proto__", { value: {}, enumerable: true }),
];

/** Expensive poison, used occasionally. */
const HEAVY: readonly (() => unknown)[] = [
  () => deep(10_000),
  () => wide(100_001),
  () => new Array<number>(100_001).fill(1),
];

/** Values of every kind, which may or may not make the document invalid. */
const ODD: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 1.5,
  () => 1e308,
  () => Number.MAX_SAFE_INTEGER + 2,
  () => "",
  () => " ",
  () => "../../etc/passwd",
  () => "x".repeat(70_000),
  () => "\u0000",
  () => "toString",
  () => [],
  () => [[]],
  () => ({}),
  () => ({ constructor: { prototype: {} } }),
  () => ({ toString: 1, hasOwnProperty: 1, length: 1e9 }),
  () => ({ $ref: "#" }),
];

const ODD_KEYS = [
  "constructor",
  "toString",
  "hasOwnProperty",
  "$ref",
  "",
  " ",
  "\u0000",
  "0",
  "length",
  "kind",
  "__defineGetter__",
];

export type Mutant = { name: SchemaName; what: string; document: unknown; breaks: boolean };

const SEEDS: readonly { name: SchemaName; text: string }[] = SCHEMA_NAMES.flatMap((name) =>
  Object.values(goldenOf(registry[name].id).valid).map((document) => ({
    name,
    text: JSON.stringify(document),
  })),
);

export function* mutants(count: number, seed: number): Generator<Mutant> {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  for (let i = 0; i < count; i++) {
    const { name, text } = pick(SEEDS);
    const document: unknown = JSON.parse(text);
    const slots = slotsOf(document);
    const slot = slots.length === 0 ? null : pick(slots);
    if (slot === null) {
      yield { name, what: "poison at the root", document: pick(POISON)(), breaks: true };
      continue;
    }
    switch (random(i % 200 === 0 ? 6 : 5)) {
      case 0:
        put(slot, pick(POISON)());
        yield { name, what: `poison at ${slot.key}`, document, breaks: true };
        break;
      case 1:
        put(slot, pick(ODD)());
        yield { name, what: `odd value at ${slot.key}`, document, breaks: false };
        break;
      case 2:
        put({ parent: document as Record<string, unknown>, key: pick(ODD_KEYS) }, pick(ODD)());
        yield { name, what: "odd key at the root", document, breaks: false };
        break;
      case 3: {
        const other = pick(slots);
        put(slot, structuredClone((other.parent as Record<string | number, unknown>)[other.key]));
        yield { name, what: `${other.key} put at ${slot.key}`, document, breaks: false };
        break;
      }
      case 4:
        if (Array.isArray(slot.parent)) slot.parent.splice(Number(slot.key), 1);
        else delete slot.parent[slot.key];
        yield { name, what: `${slot.key} taken away`, document, breaks: false };
        break;
      default:
        put(slot, pick(HEAVY)());
        yield { name, what: `heavy poison at ${slot.key}`, document, breaks: true };
    }
  }
}
