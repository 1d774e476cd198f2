import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { expect, test } from "vitest";
import { parseSignature, signatureText, signedBytes, thumbprintOf } from "./signature.ts";

const DIGEST = `sha256-${"d".repeat(43)}`;
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const { x = "" } = publicKey.export({ format: "jwk" });

test("runtime/J14: a signature of a record is not valid for its bare digest, another record or another purpose", () => {
  const value = sign(null, signedBytes(DIGEST), privateKey);
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  const holds = (bytes: Uint8Array): boolean => verify(null, bytes, key, value);
  expect(holds(signedBytes(DIGEST))).toBe(true);
  expect(holds(signedBytes(DIGEST.replace("d", "e")))).toBe(false);
  for (const text of [DIGEST, `antiphon.commit.v1\n${DIGEST}`, `antiphon.record.v1${DIGEST}`])
    expect(holds(Buffer.from(text)), text).toBe(false);
});

test("runtime/J14: a written signature is read back; one that is cut, padded or combined is refused", () => {
  const kid = thumbprintOf(x);
  const value = sign(null, signedBytes(DIGEST), privateKey).toString("base64url");
  const text = signatureText({ kid, value });
  expect(parseSignature(text)).toEqual({ kid, value });
  for (let end = 0; end < text.length; end += 1) expect(parseSignature(text.slice(0, end))).toBeNull();
  for (const other of [`${text}=`, `${text}\n`, ` ${text}`, `${text}.${value}`, `${kid}.${kid}`, `.${value}`])
    expect(parseSignature(other), other).toBeNull();
});
