// Creates a Director's key and the file that trusts it, for deployments that mount both into their services.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { DirectorKey } from "@antiphon/contracts";
import { thumbprintOf } from "@antiphon/contracts/stored/signature";
import { Failure } from "../failure.ts";
import { createWhole } from "./whole-file.ts";

export interface MadeKey {
  readonly key: DirectorKey;
  /** False: the key file already existed. */
  readonly made: boolean;
  /** How many keys are trusted now. */
  readonly trusted: number;
}

/** Creates the private key if its file does not exist, and adds its public half to the trusted keys. */
export function makeKey(keyFile: string, trustFile: string): MadeKey {
  const before = existsSync(trustFile) ? keysIn(trustFile) : [];
  const pem = (): string =>
    generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const made = createWhole(keyFile, pem, 0o600);
  const key = publicHalf(keyFile);
  const keys = before.some(({ kid }) => kid === key.kid) ? before : [...before, key];
  const draft = `${trustFile}.${process.pid}`; // A service may be reading the file now, so it is replaced in one step.
  writeFileSync(draft, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o644 });
  renameSync(draft, trustFile);
  return { key, made, trusted: keys.length };
}

function keysIn(file: string): DirectorKey[] {
  try {
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys?: unknown };
    if (Array.isArray(keys)) return keys as DirectorKey[];
  } catch {
    throw new Failure("ANT_CONFIG_INVALID", `${file} is not JSON`);
  }
  throw new Failure("ANT_CONFIG_INVALID", `${file} has no list \`keys\``);
}

function publicHalf(file: string): DirectorKey {
  let privateKey;
  try {
    privateKey = createPrivateKey(readFileSync(file, "utf8"));
  } catch {
    throw new Failure("ANT_CONFIG_INVALID", `${file} is not a PEM private key`); // The parser's own message might quote the key.
  }
  if (privateKey.asymmetricKeyType !== "ed25519")
    throw new Failure("ANT_CONFIG_INVALID", `${file} is ${privateKey.asymmetricKeyType}, not Ed25519`);
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return { kty: "OKP", crv: "Ed25519", x, kid: thumbprintOf(x), use: "sig" };
}
