/**
 * Checks a Director's decision in this browser: the record's content has the digest that was signed, and the signature is
 * by a key of the deployment. The answer is for people; nothing else depends on it.
 */
import { Encoder } from "@msgpack/msgpack";
import type { RunRecord } from "./run-record.ts";

export interface PublishedKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
}

export type SignatureState =
  "verified" | "unsigned" | "unknown key" | "altered" | "wrong signature" | "not checked";

/** The types that a Director signs (contracts/src/stored/signature.ts). */
export const SIGNED: ReadonlySet<string> = new Set(["verdict", "landing", "closed"]);

const encoder = new Encoder({ sortKeys: true, ignoreUndefined: true });
const signedText = (digest: string): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(`antiphon.record.v1\n${digest}`);

export async function signatureState(
  record: RunRecord,
  keys: readonly PublishedKey[],
): Promise<SignatureState> {
  const [kid, value] = (record.signature ?? "").split(".");
  if (kid === undefined || kid === "" || value === undefined) return "unsigned";
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) return "unknown key";
  if ((await digestOf(record)) !== record.digest) return "altered";
  try {
    const { kty, crv, x } = key;
    const imported = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
    const isRight = await crypto.subtle.verify(
      "Ed25519",
      imported,
      fromBase64Url(value),
      signedText(record.digest),
    );
    return isRight ? "verified" : "wrong signature";
  } catch {
    return "not checked"; // This browser has no Ed25519, or the page is not in a secure context.
  }
}

async function digestOf({ v, type, runId, taskId, epoch, cause, body }: RunRecord): Promise<string> {
  const bytes = encoder.encode({ v, type, runId, taskId, epoch, cause, body });
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return `sha256-${toBase64Url(new Uint8Array(hash))}`;
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (char) => char.charCodeAt(0));
}
