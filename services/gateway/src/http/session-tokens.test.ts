import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { limits } from "@antiphon/contracts";
import { SessionTokens } from "./session-tokens.ts";

const WHO = {
  ...{ sessionId: "ses_a", principal: "token", bound: false },
  roles: ["submitter"] as const,
  tenancy: { kind: "assigned", tenant: "red" } as const,
};
const START = Date.parse("2026-11-22T12:00:00Z");
const refusal = (code: string) => expect.objectContaining({ code }) as Error;

describe("a session token", () => {
  it("is valid until it expires and not a second longer", async () => {
    let now = START;
    const tokens = new SessionTokens("s3cret", () => now);
    const { token, expiresAt } = await tokens.issue(WHO);
    expect(Date.parse(expiresAt) - START).toBe(limits.sessionTokenS * 1000);
    now = START + limits.sessionTokenS * 1000 - 1000;
    expect(await tokens.verify(token)).toEqual(WHO);
    now = START + limits.sessionTokenS * 1000;
    await expect(tokens.verify(token)).rejects.toThrow(refusal("ANT_SESSION_EXPIRED"));
  });

  it("is accepted by every gateway with the same key, and by no other, also if both have none", async () => {
    const { token } = await new SessionTokens("s3cret").issue(WHO);
    expect(await new SessionTokens("s3cret").verify(token)).toEqual(WHO);
    for (const other of [new SessionTokens("0ther"), new SessionTokens(null)])
      await expect(other.verify(token)).rejects.toThrow(refusal("ANT_GATEWAY_TOKEN_REQUIRED"));
  });

  it("cannot be made by a caller, who has the deployment's token", async () => {
    const gateway = new SessionTokens("the-key-of-the-gateways");
    const forged = await new SessionTokens("the-deployment-s-token").issue({ ...WHO, principal: "ann" });
    await expect(gateway.verify(forged.token)).rejects.toThrow(refusal("ANT_GATEWAY_TOKEN_REQUIRED"));
  });

  it("is refused if it is altered, unsigned, or issued for another purpose", async () => {
    const tokens = new SessionTokens("s3cret");
    const { token } = await tokens.issue(WHO);
    const [head = "", body = "", signature = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: "admin" })).toString("base64url");
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url");
    const elsewhere = await new SignJWT({ sid: "ses_a" })
      .setProtectedHeader({ alg: "HS256" })
      .setSubject("token")
      .setAudience("another")
      .setExpirationTime("1h")
      .sign(Buffer.from("s3cret"));
    for (const bad of [
      `${head}.${forged}.${signature}`,
      `${none}.${body}.`,
      `${head}.${body}.AAAA`,
      elsewhere,
    ])
      await expect(tokens.verify(bad)).rejects.toThrow(refusal("ANT_GATEWAY_TOKEN_REQUIRED"));
  });
});
