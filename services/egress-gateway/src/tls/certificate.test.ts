import { generateKeyPairSync, randomBytes, sign, X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { certificatePem, toBeSigned } from "./certificate.ts";

const NOT_AFTER = Date.UTC(2027, 0, 2, 3, 4, 5);
const pair = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const [above, below] = [pair(), pair()];
const derOf = ({ publicKey }: ReturnType<typeof pair>): Buffer =>
  publicKey.export({ type: "spki", format: "der" });

function issued(dnsName: string | null): X509Certificate {
  const part = toBeSigned({
    serial: randomBytes(16),
    issuer: "authority",
    subject: dnsName ?? "authority",
    key: derOf(dnsName === null ? above : below),
    issuerKey: derOf(above),
    notBeforeMs: NOT_AFTER - 60_000,
    notAfterMs: NOT_AFTER,
    dnsName,
  });
  return new X509Certificate(certificatePem(part, sign("sha256", part, above.privateKey)));
}

it("a name's certificate is valid for that DNS name, for servers only, and expires with its authority", () => {
  const [authority, leaf] = [issued(null), issued("a.example.test")];
  expect(leaf.verify(authority.publicKey)).toBe(true);
  expect(leaf.checkIssued(authority)).toBe(true);
  expect(leaf.subjectAltName).toBe("DNS:a.example.test");
  expect(leaf.checkHost("a.example.test")).toBe("a.example.test");
  expect(leaf.checkHost("b.example.test")).toBeUndefined();
  expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  expect(leaf.ca).toBe(false);
  expect([leaf.validTo, Date.parse(leaf.validTo)]).toEqual([authority.validTo, NOT_AFTER]);
});
