import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DirectorKey } from "@antiphon/contracts";
import { AntiphonError, signatureText, signedBytes, thumbprintOf } from "@antiphon/contracts";
import { flushSync } from "@antiphon/git/disk/flush";
import { makeOnce } from "./made-once.ts";

/**
 * The Ed25519 key a Director signs its decisions and commits with. A file (PKCS#8, PEM) when one is named, made on
 * first use with mode 0600; else a key that lives as long as the process. Its public half is published under
 * its thumbprint, so what was signed with a key that is gone can still be verified.
 *
 * Invariants:
 *  Y6 The private half leaves this module through `sign` only: it is in no record, log line or error.
 *  Y7 Two processes that make the same file at once end up with the same key, and a reader never sees half of it.
 *  Y9 A key that was handed out is in its file after a power cut: what it signed can be signed with again.
 */
export interface SigningKey {
  readonly jwk: DirectorKey;
  /** 64 bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** Value of the signature header for a record of this digest. */
export function signRecord(key: SigningKey, digest: string): string {
  const value = Buffer.from(key.sign(signedBytes(digest))).toString("base64url");
  return signatureText({ kid: key.jwk.kid, value });
}

/** @throws AntiphonError ANT_CONFIG_INVALID when the file holds anything but an Ed25519 private key. */
export function openSigningKey(file: string | null): SigningKey {
  if (file === null) return signingKey(generateKeyPairSync("ed25519").privateKey);
  return signingKey(readKey(file, readOrMake(file)));
}

function signingKey(privateKey: KeyObject): SigningKey {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x, kid: thumbprintOf(x), use: "sig" },
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

function readOrMake(file: string): string {
  try {
    const pem = readFileSync(file, "utf8");
    flushIfPossible(dirname(file)); // Y9: whoever made it may not have come so far
    return pem;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw unusable(file, (error as Error).message);
  }
  try {
    const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
    makeOnce(file, pem.toString(), 0o600); // Y7, Y9
    return readFileSync(file, "utf8");
  } catch (error) {
    throw unusable(file, (error as Error).message);
  }
}

/** A directory that cannot be flushed (a mounted secret) is not one that this process makes keys in. */
function flushIfPossible(directory: string): void {
  try {
    flushSync(directory);
  } catch {
    // What can be read can be used.
  }
}

function readKey(file: string, pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw unusable(file, "it is not a PEM private key"); // Y6: the parser's own message may quote the file
  }
  if (key.asymmetricKeyType !== "ed25519")
    throw unusable(file, `it is ${key.asymmetricKeyType}, not Ed25519`);
  return key;
}

function unusable(file: string, why: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `ANTIPHON_DIRECTOR_KEY=${JSON.stringify(file)}: ${why}`, {
    data: { variable: "ANTIPHON_DIRECTOR_KEY" },
  });
}
