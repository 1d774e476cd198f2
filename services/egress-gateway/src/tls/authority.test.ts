import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { SandboxAuthority } from "./authority.ts";

describe("a sandbox's authority", () => {
  it("gives out a certificate that signs names, without its key", () => {
    const { certificate } = new SandboxAuthority("lease", Date.now());
    const read = new X509Certificate(certificate);
    expect(read.ca).toBe(true);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(certificate).not.toContain("PRIVATE");
  });
});
