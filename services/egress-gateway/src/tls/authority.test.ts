import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../proxy/ip-address.ts";
import { SandboxAuthority } from "./authority.ts";
import { resolverOf } from "../proxy/resolver.ts";

describe("a sandbox's authority", () => {
  it("gives out a certificate that signs names, without its key", () => {
    const { certificate } = new SandboxAuthority("lease", Date.now());
    const read = new X509Certificate(certificate);
    expect(read.ca).toBe(true);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(certificate).not.toContain("PRIVATE");
  });
});

describe("a resolver", () => {
  it("egress-gateway/E3: refuses a name whose address is not public", async () => {
    expect(isPublicAddress("127.0.0.1")).toBe(false);
    await expect(resolverOf({ overrides: new Map(), proxy: null })("localhost", 443)).rejects.toMatchObject({
      code: "ANT_EGRESS_ADDRESS",
    });
  });
});
