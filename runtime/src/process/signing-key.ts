import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DirectorKey } from "@antiphon/contracts";
import { AntiphonError, signatureText, signedBytes, thumbprintOf } from "@antiphon/contracts";
import { flushSync } from "@antiphon/git/disk/flush";
import { makeOnce } from "./made-once.ts";

/**
 * The Ed25519 key with which a Director signs its decisions and commits, or a sandbox-runner its outcomes. It is read from a named file (PKCS#8, PEM),
 * which is created with mode 0600 on first use; without a file the key lives as long as the process. Its public half is
 * published under its thumbprint, so signatures can still be verified when the key is gone.
 *
 * The private half leaves this module only through `sign`: no record, log line or error contains it. Two processes that
 * create the same file at once get the same key. A key is in its file, flushed to disk, before it is used.
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

/** The signature text of a sandbox's outcome with this digest. */
export function signOutcome(key: SigningKey, digest: string): string {
  const value = Buffer.from(key.sign(signedBytes(digest, "outcome"))).toString("base64url");
  return signatureText({ kid: key.jwk.kid, value });
}

/**
 * @param variable the setting that names the file
 * @throws AntiphonError ANT_CONFIG_INVALID if the file holds no Ed25519 private key.
 */
export function openSigningKey(file: string | null, variable = "ANTIPHON_DIRECTOR_KEY"): SigningKey {
  if (file === null) return signingKey(generateKeyPairSync("ed25519").privateKey);
  try {
    return signingKey(readKey(readOrMake(file)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const detail = `${variable}=${JSON.stringify(file)}: ${why}`;
    throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable } });
  }
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
    flushIfPossible(dirname(file)); // The process that created the file may not have flushed it yet.
    return pem;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  makeOnce(file, pem.toString(), 0o600);
  return readFileSync(file, "utf8");
}

/** A directory that cannot be flushed (a mounted secret) is one this process creates no key in. */
function flushIfPossible(directory: string): void {
  try {
    flushSync(directory);
  } catch {
    // A readable key can be used.
  }
}

function readKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    throw new Error("it is not a PEM private key"); // The parser's own message may quote the file.
  }
  if (key.asymmetricKeyType !== "ed25519") throw new Error(`it is ${key.asymmetricKeyType}, not Ed25519`);
  return key;
}
