/**
 * The certificate authority of one sandbox. It exists as long as the sandbox, and no other program trusts it. The sandbox
 * gets the authority's certificate; the private keys never leave this object.
 */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { createSecureContext, type SecureContext } from "node:tls";
import { limits } from "@antiphon/contracts";
import { certificatePem, toBeSigned } from "./certificate.ts";

const SKEW_MS = 60 * 60_000;
const LIFE_MS = limits.taskTimeBudgetMaxS * 1000 + SKEW_MS;
const MAX_NAMES = 1024;

interface KeyPair {
  readonly privateKey: KeyObject;
  readonly der: Buffer;
}

export class SandboxAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly #name: string;
  readonly #authority = keyPair();
  /** One key serves all names, since it protects only connections that the sandbox may read anyway. */
  readonly #leaf = keyPair();
  readonly #contexts = new Map<string, SecureContext>();
  readonly #bornMs: number;

  constructor(name: string, nowMs: number) {
    this.#name = `Antiphon sandbox ${name}`;
    this.#bornMs = nowMs;
    this.certificate = this.#issue(this.#name, this.#authority.der, null);
  }

  /** A certificate for `host`, which the policy has already allowed. */
  contextFor(host: string): SecureContext {
    const known = this.#contexts.get(host);
    if (known !== undefined) return known;
    if (this.#contexts.size >= MAX_NAMES) this.#contexts.clear();
    const cert = this.#issue(host, this.#leaf.der, host);
    const key = this.#leaf.privateKey.export({ type: "pkcs8", format: "pem" });
    const context = createSecureContext({ cert, key, minVersion: "TLSv1.2" });
    this.#contexts.set(host, context);
    return context;
  }

  #issue(subject: string, key: Buffer, dnsName: string | null): string {
    const part = toBeSigned({
      serial: randomBytes(16),
      issuer: this.#name,
      subject,
      key,
      issuerKey: this.#authority.der,
      notBeforeMs: this.#bornMs - SKEW_MS,
      notAfterMs: this.#bornMs + LIFE_MS,
      dnsName,
    });
    return certificatePem(part, sign("sha256", part, this.#authority.privateKey));
  }
}

function keyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return { privateKey, der: publicKey.export({ type: "spki", format: "der" }) };
}
