import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import {
  AntiphonError,
  decode,
  encode,
  jsonSchemaOf,
  SCHEMA_NAMES,
  validate,
  type SchemaName,
} from "@antiphon/contracts";
import { mutants, randomOf, type Mutant } from "./hostile.ts";

/** `ANTIPHON_HOSTILE_MESSAGES=1000000` is the nightly run. */
const COUNT = Number(process.env.ANTIPHON_HOSTILE_MESSAGES ?? 20_000);
const SEED = Number(process.env.ANTIPHON_HOSTILE_SEED ?? 20_261_122);

/** Milliseconds of CPU that one message may take, including the compilation of its validator. */
const BOUND_MS = 500;

const second = new Map<SchemaName, Validator>();

/** The verdict of an independent implementation on the shape. */
function shapeFits(name: SchemaName, document: unknown): boolean {
  const known = second.get(name) ?? new Validator(jsonSchemaOf(name), "2020-12");
  second.set(name, known);
  return known.validate(document).valid;
}

describe("hostile messages", () => {
  test(
    `${COUNT} mutated messages: no crash, no invalid message accepted, bounded time`,
    () => {
      const seen = { accepted: 0, refused: 0, checked: 0 };
      const victims = new Set<SchemaName>();
      let slowestUs = 0;
      let index = 0;
      for (const mutant of mutants(COUNT, SEED)) {
        victims.add(mutant.name);
        const started = process.cpuUsage();
        const accepted = judge(mutant);
        slowestUs = Math.max(slowestUs, process.cpuUsage(started).user);
        seen[accepted ? "accepted" : "refused"] += 1;
        // The independent implementation must accept every message we accept. Only a sample is tried, for time.
        if (accepted && index++ % 8 === 0) {
          seen.checked += 1;
          if (!shapeFits(mutant.name, mutant.document))
            throw new Error(`${mutant.name}: accepted ${mutant.what}`);
        }
      }
      expect(seen.accepted + seen.refused).toBe(COUNT);
      expect(seen.refused).toBeGreaterThan(COUNT / 3);
      expect(seen.checked).toBeGreaterThan(COUNT / 100);
      expect(slowestUs).toBeLessThan(BOUND_MS * 1000);
      expect([...victims].sort()).toEqual([...SCHEMA_NAMES].sort());
    },
    Math.max(120_000, COUNT), // Six seconds of processor time, on a machine that other tests share.
  );

  test("random bytes and broken MessagePack are refused by name or decoded, never anything else", () => {
    const random = randomOf(SEED);
    for (let i = 0; i < 3000; i++) {
      const bytes = Uint8Array.from({ length: random(64) }, () => random(256));
      attempt(bytes);
    }
    for (const { document } of mutants(1000, SEED)) {
      const bytes = bytesOf(document);
      if (bytes === null || bytes.length > 100_000) continue;
      const at = random(bytes.length);
      bytes[at] = random(256);
      attempt(bytes.subarray(0, 1 + random(bytes.length)));
    }
  });

  test("contracts/C2: no message reaches the prototype of other objects", () => {
    const evil = JSON.parse(
      '{"goal":"x","inputs":{"constructor":{"prototype":{"polluted":1}}},"constraints":{}}',
    ) as object;
    expect(validate("Intent", evil)).toMatchObject({ ok: true });
    const proto = JSON.parse('{"goal":"x","inputs":{"__proto__":{"polluted":1}},"constraints":{}}') as object;
    expect(validate("Intent", proto)).toMatchObject({ ok: false, errors: [{ path: "/inputs" }] });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

/** True if it was accepted. Throws if it was accepted wrongly, or refused without a reason. */
function judge({ name, what, document, breaks }: Mutant): boolean {
  const result = validate(name, document);
  if (result.ok) {
    if (breaks) throw new Error(`${name}: accepted ${what}`);
    return true;
  }
  const [first] = result.errors;
  if (first === undefined || first.message === "" || JSON.stringify(first).length > 8000) {
    throw new Error(
      `${name}: ${what} was refused without a usable reason: ${JSON.stringify(first ?? null).slice(0, 300)}`,
    );
  }
  return false;
}

/** The message's bytes; null if MessagePack cannot express it and refuses it by name. */
function bytesOf(document: unknown): Uint8Array | null {
  try {
    return encode(document);
  } catch (error) {
    expect(error).toBeInstanceOf(AntiphonError);
    return null;
  }
}

function attempt(bytes: Uint8Array): void {
  try {
    const value = decode(bytes);
    validate("DirectorTask", value);
  } catch (error) {
    expect(error).toBeInstanceOf(AntiphonError);
  }
}
