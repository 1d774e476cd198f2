/**
 * A Director signs what it decides. The signature stands in a header beside the record, over the record's digest,
 * and the digest covers the whole payload; so a signature adds nothing to what a register holds, and two
 * Directors with different keys still say the same thing when they decide the same.
 *
 * Invariants:
 *  Y1 A signature is bound to its purpose: bytes signed as a record can pass for nothing else.
 *  Y2 What cannot be parsed is no signature, never half of one.
 */
import { createHash, createPublicKey, verify } from "node:crypto";
import { Type, type Static } from "typebox";
import type { JournalType } from "./journal/record.ts";
import { closed } from "./shape.ts";

/** What a Director answers people with. Everything else is held by the chain of causes and the seal in `closed`. */
export const SIGNED_TYPES: readonly JournalType[] = ["verdict", "landing", "closed"];

export const DirectorKey = closed(
  {
    kty: Type.Literal("OKP"),
    crv: Type.Literal("Ed25519"),
    x: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$", description: "The public key, base64url." }),
    kid: Type.String({ pattern: "^[A-Za-z0-9_-]{43}$", description: "RFC 7638 thumbprint of the key." }),
    use: Type.Literal("sig"),
  },
  { description: "Public half of a Director's signing key, as a JSON Web Key (RFC 8037)." },
);
export type DirectorKey = Static<typeof DirectorKey>;

export type RecordSignature = { kid: string; value: string };

/** RFC 7638: SHA-256 over the required members in lexical order, without white space; base64url. */
export const thumbprintOf = (x: string): string =>
  createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");

/** The bytes that are signed for a record of this digest (Y1). */
export const signedBytes = (digest: string): Uint8Array =>
  new TextEncoder().encode(`antiphon.record.v1\n${digest}`);

/** Whether the value of a signature is this key's, over a record of this digest. */
export function verifiesRecord({ kty, crv, x }: DirectorKey, digest: string, value: string): boolean {
  const key = createPublicKey({ key: { kty, crv, x }, format: "jwk" });
  return verify(null, signedBytes(digest), key, Buffer.from(value, "base64url"));
}

export const signatureText = ({ kid, value }: RecordSignature): string => `${kid}.${value}`;

/** `<kid>.<signature>`, both base64url; null when it is anything else (Y2). */
export function parseSignature(text: string): RecordSignature | null {
  const [, kid, value] = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{86})$/.exec(text) ?? [];
  return kid === undefined || value === undefined ? null : { kid, value };
}
