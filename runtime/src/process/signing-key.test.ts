import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseSignature, signedBytes, thumbprintOf } from "@antiphon/contracts";
import { openSigningKey, signRecord } from "./signing-key.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "antiphon-key-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const thrown = (work: () => unknown): Error => {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
};

describe("a signing key", () => {
  test("refuses a file without an Ed25519 key by name, and never quotes its content", () => {
    const file = join(dir, "key.pem");
    writeFileSync(file, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXNlY3JldA==\n-----END PRIVATE KEY-----\n");
    const broken = thrown(() => openSigningKey(file));
    expect(broken).toMatchObject({ code: "ANT_CONFIG_INVALID" });
    expect(JSON.stringify([broken, broken.message, broken.stack])).not.toContain("c2VjcmV0");

    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    writeFileSync(file, rsa.export({ format: "pem", type: "pkcs8" }));
    expect(() => openSigningKey(file)).toThrow(/rsa, not Ed25519/);
  });

  test("creates a missing file once, for its owner alone, and reads the same key again", () => {
    const file = join(dir, "deeper", "key.pem");
    const [first, second] = [openSigningKey(file), openSigningKey(file)];
    expect(second.jwk).toEqual(first.jwk);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dir, "deeper"))).toEqual(["key.pem"]);
  });

  test("its id is the thumbprint of the example key of RFC 8037", () => {
    const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    expect(thumbprintOf(x)).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });

  test("without a file each process has a key of its own", () => {
    expect(openSigningKey(null).jwk.kid).not.toBe(openSigningKey(null).jwk.kid);
  });

  test("a signature verifies for its own record and for nothing else", () => {
    const key = openSigningKey(null);
    const signature = parseSignature(signRecord(key, "sha256-one"));
    expect(signature?.kid).toBe(key.jwk.kid);
    const { kty, crv, x } = key.jwk;
    const publicKey = createPublicKey({ key: { kty, crv, x }, format: "jwk" });
    const value = Buffer.from(signature?.value ?? "", "base64url");
    expect(verify(null, signedBytes("sha256-one"), publicKey, value)).toBe(true);
    expect(verify(null, signedBytes("sha256-two"), publicKey, value)).toBe(false);
    expect(verify(null, Buffer.from("sha256-one"), publicKey, value)).toBe(false);
  });
});
