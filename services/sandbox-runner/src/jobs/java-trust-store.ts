/**
 * Certificates as a Java key store (JKS, version 2), for the programs of a sandbox that run on a JVM: those read neither
 * PEM files nor the variables of other programs. It holds trusted certificates only.
 *
 * Source: the layout that sun.security.provider.JavaKeyStore reads; `keytool -list` is the proof (java-trust-store.test.ts).
 */
import { createHash, X509Certificate } from "node:crypto";
import { TRUST_STORE_PASSWORD } from "./egress-environment.ts";

const MAGIC = 0xfeedfeed;
const VERSION = 2;
const TRUSTED_CERTIFICATE = 2;
/** Java hashes this text between the password and the content. */
const WHITENER = "Mighty Aphrodite";
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @param pem one certificate or more; other text between them is skipped */
export function javaTrustStore(pem: string): Buffer {
  const certificates = (pem.match(PEM) ?? []).map((text) => new X509Certificate(text).raw);
  const body = Buffer.concat([
    uint32(MAGIC),
    uint32(VERSION),
    uint32(certificates.length),
    ...certificates.flatMap((der, i) => [
      uint32(TRUSTED_CERTIFICATE),
      utf(`antiphon-${i}`),
      Buffer.alloc(8), // the time it was added, in milliseconds
      utf("X.509"),
      uint32(der.length),
      der,
    ]),
  ]);
  const digest = createHash("sha1")
    .update(utf16(TRUST_STORE_PASSWORD))
    .update(WHITENER)
    .update(body)
    .digest();
  return Buffer.concat([body, digest]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Java's writeUTF, for ASCII. */
function utf(text: string): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(text.length);
  return Buffer.concat([bytes, Buffer.from(text, "latin1")]);
}

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
