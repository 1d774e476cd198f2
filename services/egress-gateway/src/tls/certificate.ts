/**
 * Encodes X.509 certificates of a sandbox's authority. Keys and randomness are arguments. An authority may sign only
 * certificates of names (path length 0); these are for one DNS name and for servers only, and may sign nothing.
 */
import { createHash } from "node:crypto";
import { bits, boolean, der, integer, octets, oid, sequence, set, time, utf8 } from "./der.ts";

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

export interface CertificateFields {
  /** 16 random bytes. */
  readonly serial: Buffer;
  readonly issuer: string;
  readonly subject: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly key: Buffer;
  readonly issuerKey: Buffer;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Null for the authority itself. */
  readonly dnsName: string | null;
}

/** The part that the issuer signs (ECDSA with SHA-256). */
export function toBeSigned(fields: CertificateFields): Buffer {
  return sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x40]), fields.serial.subarray(0, 15)])),
    ECDSA_SHA256,
    name(fields.issuer),
    sequence(time(fields.notBeforeMs), time(fields.notAfterMs)),
    name(fields.subject),
    fields.key,
    der(0xa3, sequence(...extensions(fields))),
  );
}

export function certificatePem(signedPart: Buffer, signature: Buffer): string {
  const text = sequence(signedPart, ECDSA_SHA256, bits(signature)).toString("base64");
  return `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;
}

function extensions({ key, issuerKey, dnsName }: CertificateFields): Buffer[] {
  const identifiers = [
    extension("2.5.29.14", false, octets(keyId(key))),
    extension("2.5.29.35", false, sequence(der(0x80, keyId(issuerKey)))),
  ];
  if (dnsName === null) {
    return [
      extension("2.5.29.19", true, sequence(boolean(true), integer(Buffer.from([0])))), // path length 0
      extension("2.5.29.15", true, bits(Buffer.from([0b0000_0110]), 1)),
      ...identifiers,
    ];
  }
  return [
    extension("2.5.29.19", true, sequence()),
    extension("2.5.29.15", true, bits(Buffer.from([0b1000_0000]), 7)),
    extension("2.5.29.37", false, sequence(oid("1.3.6.1.5.5.7.3.1"))), // server authentication
    extension("2.5.29.17", false, sequence(der(0x82, Buffer.from(dnsName, "latin1")))),
    ...identifiers,
  ];
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

function keyId(key: Buffer): Buffer {
  return createHash("sha1").update(key).digest();
}

function name(text: string): Buffer {
  return sequence(set(sequence(oid("2.5.4.3"), utf8(text.slice(0, 64)))));
}
