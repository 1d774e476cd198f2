// NATS user keys (nkeys): an Ed25519 key pair as text. The seed (`SU...`) stays with the service, and the server's
// configuration names the public key (`U...`). Format: base32 of prefix, key and CRC-16, without padding.
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";

export interface UserKey {
  readonly seed: string;
  readonly publicKey: string;
}

const SEED = 18 << 3;
const USER = 20 << 3;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SEED_FORM = /^SU[A-Z2-7]{56}$/;
const KEY_BYTES = 32;
/** The start of an Ed25519 private key in PKCS #8; its 32 bytes follow. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export function makeUserKey(): UserKey {
  const der = generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" });
  return userKey(der.subarray(-KEY_BYTES));
}

/** The key of a seed; null if the text is no seed of a user. */
export function userKeyOf(seed: string): UserKey | null {
  if (!SEED_FORM.test(seed)) return null;
  const made = userKey(decoded(seed).subarray(2, 2 + KEY_BYTES));
  return made.seed === seed ? made : null; // Also compares the checksum.
}

function userKey(raw: Buffer): UserKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, raw]), format: "der", type: "pkcs8" });
  const open = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-KEY_BYTES);
  const seedPrefix = Buffer.from([SEED | (USER >> 5), (USER & 31) << 3]);
  return { seed: encoded(seedPrefix, raw), publicKey: encoded(Buffer.from([USER]), open) };
}

function encoded(prefix: Buffer, key: Buffer): string {
  const body = Buffer.concat([prefix, key]);
  const check = Buffer.alloc(2);
  check.writeUInt16LE(crc16(body));
  return base32(Buffer.concat([body, check]));
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1)
      crc = ((crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021) & 0xffff;
  }
  return crc;
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => ALPHABET[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}

function decoded(text: string): Buffer {
  const bits = [...text].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
