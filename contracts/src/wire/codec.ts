/**
 * Bytes and digests. Messages are MessagePack with sorted keys. Documents are JSON; their canonical form (sorted keys, no
 * white space) is hashed.
 *
 * Promises:
 *   contracts/C1 Because a digest names a value, two values are encoded to the same bytes exactly if they are the same
 *     JSON value, whatever the order of their keys.
 */
import { createHash, hash } from "node:crypto";
import { Decoder, Encoder } from "@msgpack/msgpack";
import { AntiphonError } from "../errors.ts";
import { KeyCache } from "./key-cache.ts";
import { limits } from "../limits.ts";
import { refuseBomb } from "./message-skim.ts";

/** A record contains a message of messageDepth a few levels down. */
const MAX_DEPTH = limits.messageDepth + 4;

const encoder = new Encoder({ sortKeys: true, ignoreUndefined: true, maxDepth: MAX_DEPTH });
const decoder = new Decoder({
  maxStrLength: 16 * limits.documentBytes,
  maxBinLength: 16 * limits.documentBytes,
  maxArrayLength: limits.messageNodes,
  maxMapLength: limits.messageNodes,
  maxExtLength: 0,
  keyDecoder: new KeyCache(),
});

/** MessagePack with sorted keys, without `undefined` (contracts/C1). Throws ANT_CONTRACT_INVALID for other values. */
export function encode(value: unknown): Uint8Array {
  try {
    return encoder.encode(value);
  } catch (error) {
    throw new AntiphonError("ANT_CONTRACT_INVALID", `no MessagePack for this: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The value of MessagePack bytes. Its shape is unknown: `validate` it. Throws ANT_CONTRACT_INVALID, ANT_CONTRACT_LIMIT. */
export function decode(bytes: Uint8Array): unknown {
  refuseBomb(bytes, MAX_DEPTH); // contracts/C2
  try {
    return decoder.decode(bytes); // contracts/C2: the package refuses `__proto__` keys
  } catch (error) {
    throw new AntiphonError("ANT_CONTRACT_INVALID", `not MessagePack: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** JSON with sorted keys and no white space: equal values give equal text. Throws on values that JSON cannot express. */
export function canonicalJson(value: unknown): string {
  return canonical(value, 0);
}

function canonical(value: unknown, depth: number): string {
  if (depth > 256) throw new AntiphonError("ANT_CONTRACT_LIMIT", "too deep for a canonical form");
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value))
      throw new AntiphonError("ANT_CONTRACT_INVALID", `JSON has no ${String(value)}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null, depth + 1)).join(",")}]`;
  if (typeof value !== "object")
    throw new AntiphonError("ANT_CONTRACT_INVALID", `JSON has no ${typeof value}`);
  const object = value as Record<string, unknown>;
  const members = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key], depth + 1)}`);
  return `{${members.join(",")}}`;
}

export function sha256Hex(data: Uint8Array | string): string {
  return hash("sha256", data, "hex");
}

/** `sha256-<base64url>`: the name of bytes in records, headers and content-addressed buckets. */
export function digestOf(bytes: Uint8Array | string): string {
  return `sha256-${hash("sha256", bytes, "base64url")}`;
}

/** Digest of a JSON value's canonical form. */
export function digestOfJson(value: unknown): string {
  return digestOf(canonicalJson(value));
}

/** RFC 000: deterministic over (intent, schemaVersion, seed), in any key order. 64 hex digits. */
export function replayKey(input: { intent: unknown; schemaVersion: number; seed: string }): string {
  return sha256Hex(canonicalJson([input.intent, input.schemaVersion, input.seed]));
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** Lower-case base32 of a SHA-256, `length` characters of 5 bits. */
function base32Of(text: string, length: number): string {
  const hash = createHash("sha256").update(text).digest();
  let out = "";
  for (let i = 0; i < length; i++) {
    const bit = i * 5;
    const pair = ((hash[bit >> 3] ?? 0) << 8) | (hash[(bit >> 3) + 1] ?? 0);
    out += LETTERS[(pair >> (11 - (bit & 7))) & 31] ?? "a";
  }
  return out;
}

/** The id of a stored intent. The same body and principal give the same id. */
export function intentIdOf(document: unknown, principal: string): string {
  return `it_${base32Of(canonicalJson({ intent: document, principal }), 26)}`;
}
