/**
 * Signs a commit in git's `gpg.format=ssh` form, so that `git verify-commit` needs only an allowed-signers file. Pure:
 * the key is a function. Source: OpenSSH PROTOCOL.sshsig.
 */
import { createHash } from "node:crypto";

export interface CommitSigner {
  /** Raw Ed25519 public key, 32 bytes. */
  publicKey: Uint8Array;
  /** Returns the Ed25519 signature of the bytes, 64 bytes long. */
  sign(bytes: Uint8Array): Uint8Array;
}

const MAGIC = Buffer.from("SSHSIG");
const NAMESPACE = Buffer.from("git");
const KEY_TYPE = Buffer.from("ssh-ed25519");
const HASH = Buffer.from("sha512");
const LINE = 70;

/** Armored like the output of `ssh-keygen -Y sign -n git`, without a trailing newline. */
export function sshSignature(content: Uint8Array, signer: CommitSigner): string {
  const digest = createHash("sha512").update(content).digest();
  const signed = Buffer.concat([MAGIC, ...[NAMESPACE, Buffer.alloc(0), HASH, digest].map(field)]);
  const version = Buffer.from([0, 0, 0, 1]);
  const signature = Buffer.concat([field(KEY_TYPE), field(signer.sign(signed))]);
  const fields = [sshPublicKey(signer.publicKey), NAMESPACE, Buffer.alloc(0), HASH, signature].map(field);
  const blob = Buffer.concat([MAGIC, version, ...fields]).toString("base64");
  const lines = blob.match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----"].join("\n");
}

function sshPublicKey(raw: Uint8Array): Buffer {
  return Buffer.concat([field(KEY_TYPE), field(raw)]);
}

function field(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
