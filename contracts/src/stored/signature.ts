/**
 * Signatures of a Director's decisions. A signature is in a header and covers the record's digest, which covers the whole
 * payload. It is not part of the payload, so two Directors with different keys write equal records for equal decisions.
 *
 * Because anybody who reaches NATS may write a decision, a decision is trusted only if a pinned key signed its digest for
 * this purpose; a signature of anything else, or one that cannot be parsed, does not count (runtime/J14).
 */
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import { DirectorKey } from "../shapes/director-key.ts";

export { DirectorKey };

export type RecordSignature = { kid: string; value: string };

/** RFC 7638: SHA-256 over the required members in lexical order, without white space; base64url. */
export const thumbprintOf = (x: string): string =>
  createHash("sha256").update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest("base64url");

/** What a signature is for. A signature for one purpose is none for another. */
export type SignedFor = "record" | "outcome";

/** The bytes that are signed for a record, or a sandbox's outcome, with this digest (runtime/J14). */
export const signedBytes = (digest: string, purpose: SignedFor = "record"): Uint8Array =>
  new TextEncoder().encode(`antiphon.${purpose}.v1\n${digest}`);

/** Whether `value` is this key's signature over a record with this digest. */
export function verifiesRecord(key: DirectorKey, digest: string, value: string): boolean {
  return verifies(publicKeyOf(key), digest, value);
}

const publicKeyOf = ({ kty, crv, x }: DirectorKey): KeyObject =>
  createPublicKey({ key: { kty, crv, x }, format: "jwk" });

const verifies = (key: KeyObject, digest: string, value: string, purpose: SignedFor = "record"): boolean =>
  verify(null, signedBytes(digest, purpose), key, Buffer.from(value, "base64url"));

/** The reason to distrust a decision with this digest and signature; null if a trusted Director signed it. */
export type Doubt = (signature: string, digest: string) => string | null;

/** Trusts only the pinned keys (runtime/J14). A key under another key's thumbprint is never used. */
export function trustIn(keys: readonly DirectorKey[], purpose: SignedFor = "record"): Doubt {
  const byKid = new Map(
    keys.filter(({ x, kid }) => thumbprintOf(x) === kid).map((key) => [key.kid, publicKeyOf(key)]),
  );
  return (signature, digest) => {
    if (signature === "") return "it bears no signature";
    const parsed = parseSignature(signature);
    if (parsed === null) return "its signature cannot be read";
    const key = byKid.get(parsed.kid);
    if (key === undefined) return `no trusted key has the thumbprint ${parsed.kid}`;
    return verifies(key, digest, parsed.value, purpose) ? null : "its signature does not verify";
  };
}

export const signatureText = ({ kid, value }: RecordSignature): string => `${kid}.${value}`;

/** `<kid>.<signature>`, both base64url; null for anything else (runtime/J14). */
export function parseSignature(text: string): RecordSignature | null {
  const [, kid, value] = /^([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{86})$/.exec(text) ?? [];
  return kid === undefined || value === undefined ? null : { kid, value };
}
