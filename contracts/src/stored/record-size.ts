/** The size limit of a journal record's body. The server measures a message with its headers, so less is left for the body. */
import { encode } from "../wire/codec.ts";
import { limits } from "../limits.ts";

/** Maximum size of a body with which its record is always stored, whatever its ids and headers. */
export const recordBodyBytes = limits.recordBytes - limits.recordEnvelopeBytes;

/** Size of a body in its record. */
export function bodyBytes(body: unknown): number {
  return encode(body).length;
}

/**
 * Whether the body's record is always stored. Nearly all bodies are far below the limit, and each is encoded again in its
 * record; so it is encoded here only if a bound that needs no encoding leaves the answer open.
 */
export function fitsRecord(body: unknown): boolean {
  return left(body, recordBodyBytes, 0) >= 0 || bodyBytes(body) <= recordBodyBytes;
}

/** Most bytes of a number, of the head of a text, list or map, and of a UTF-16 unit in UTF-8. */
const NUMBER = 9;
const HEAD = 5;
const UNIT = 3;
const TOO_MUCH = -1;

/** A lower bound of the bytes that are left after the value. Negative: it does not fit, or only the codec can tell. */
function left(value: unknown, bytes: number, depth: number): number {
  if (typeof value === "string") return bytes - HEAD - UNIT * value.length;
  if (typeof value === "number") return bytes - NUMBER;
  if (value === null || typeof value === "boolean" || value === undefined) return bytes - 1;
  if (typeof value !== "object" || depth > limits.messageDepth) return TOO_MUCH;
  let rest = bytes - HEAD;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && rest >= 0; i += 1) rest = left(value[i], rest, depth + 1);
    return rest;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return TOO_MUCH;
  for (const key in value) {
    if (rest < 0) break;
    rest = left((value as Record<string, unknown>)[key], rest - HEAD - UNIT * key.length, depth + 1);
  }
  return rest;
}
