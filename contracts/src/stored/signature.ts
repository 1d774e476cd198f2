/**
 * A Director signs what it decides. The signature stands in a header beside the record, over the record's digest,
 * and the digest covers the whole payload; so a signature adds nothing to what a register holds, and two
 * Directors with different keys still say the same thing when they decide the same.
 *
 * Invariants:
 *  Y1 A signature is bound to its purpose: bytes signed as a record can pass for nothing else.
 *  Y2 What cannot be parsed is no signature, never half of one.
 *  Y10 A decision is believed when a key that the deployment pins signed its digest, and for no other reason.
 */
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import { Type, type Static } from "typebox";
import type { JournalType } from "../journal/record.ts";
import { closed } from "../shapes/shape.ts";

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
export function verifiesRecord(key: DirectorKey, digest: string, value: string): boolean {
  return verifies(publicKeyOf(key), digest, value);
}

const publicKeyOf = ({ kty, crv, x }: DirectorKey): KeyObject =>
  createPublicKey({ key: { kty, crv, x }, format: "jwk" });

const verifies = (key: KeyObject, digest: string, value: string): boolean =>
  verify(null, signedBytes(digest), key, Buffer.from(value, "base64url"));

/** Why a decision of this digest is not believed under the text of its signature; null: a trusted Director signed it. */
export type Doubt = (signature: string, digest: string) => string | null;

/** Trusts the keys that are pinned and no other (Y10). A key that stands under another one's thumbprint is nobody's. */
export function trustIn(keys: readonly DirectorKey[]): Doubt {
  const byKid = new Map(
    keys.filter(({ x, kid }) => thumbprintOf(x) === kid).map((key) => [key.kid, publicKeyOf(key)]),
  );
  return (signature, digest) => {
    if (signature === "") return "it bears no signature";
    const parsed = parseSignature(signature);
    if (parsed === null) return "its signature cannot be read";
    const key = byKid.get(parsed.kid);
    if (key === undefined) return `no trusted key has the thumbprint ${parsed.kid}`;
    return verifies(key, digest, parsed.value) ? null : "its signature does not verify";
  };
}

export const signatureText = ({ kid, value }: RecordSignature): string => `${kid}.${value}`;

/** `<kid>.<signature>`, both base64url; null when it is anything else (Y2). */
export function parseSignature(text: string): RecordSignature | null {
  const [, kid, value] = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{86})$/.exec(text) ?? [];
  return kid === undefined || value === undefined ? null : { kid, value };
}
