import { describe, expect, it } from "vitest";
import { directoryOf } from "./directory-settings.ts";
import { identityOf } from "./directory.ts";
import { oidcOf } from "./oidc-settings.ts";

const PEOPLE = [{ name: "ann" }, { name: "ben" }];
const invalid = (variable: string) =>
  expect.objectContaining({ code: "ANT_CONFIG_INVALID", data: { variable } }) as Error;

describe("roles and tenants of people with local tokens", () => {
  it("are all rights and no tenant if none are set", () => {
    const directory = directoryOf({}, PEOPLE);
    expect(identityOf("ann", directory)).toEqual({
      ...{ principal: "ann", roles: ["admin"], tenancy: { kind: "free" } },
    });
  });

  it("are those of the settings; a person without a row may look, and the deployment's token may do everything", () => {
    const directory = directoryOf(
      { ANTIPHON_ROLES: "ann=submitter+approver", ANTIPHON_TENANTS: "ann=red" },
      PEOPLE,
    );
    expect(identityOf("ann", directory)).toMatchObject({
      roles: ["submitter", "approver"],
      tenancy: { kind: "assigned", tenant: "red" },
    });
    expect(identityOf("ben", directory)).toMatchObject({
      roles: ["viewer"],
      tenancy: { kind: "assigned", tenant: null },
    });
    expect(identityOf("token", directory)).toMatchObject({ roles: ["admin"], tenancy: { kind: "free" } });
  });

  it.each([
    ["ANTIPHON_ROLES", "ann=king"],
    ["ANTIPHON_ROLES", "eve=admin"],
    ["ANTIPHON_ROLES", "ann"],
    ["ANTIPHON_ROLES", "ann=viewer,ann=admin"],
    ["ANTIPHON_ROLES", "ann=viewer=admin"],
    ["ANTIPHON_TENANTS", "ann=Red Team"],
  ])("refuse %s=%s", (variable, text) => {
    expect(() => directoryOf({ [variable]: text }, PEOPLE)).toThrow(invalid(variable));
  });
});

describe("an identity provider", () => {
  const GOOD = { ANTIPHON_OIDC_ISSUER: "https://id.example.org", ANTIPHON_OIDC_AUDIENCE: "antiphon" };

  it("is none if none is set", () => {
    expect(oidcOf({}, "s3cret")).toBeNull();
    expect(oidcOf(GOOD, "s3cret")).toMatchObject({ issuer: "https://id.example.org", nameClaim: "sub" });
  });

  it.each<[string, Record<string, string>, string | null, string]>([
    [
      "without TLS beyond loopback",
      { ...GOOD, ANTIPHON_OIDC_ISSUER: "http://id.example.org" },
      "t",
      "ANTIPHON_OIDC_ISSUER",
    ],
    [
      "with a password in its address",
      { ...GOOD, ANTIPHON_OIDC_ISSUER: "https://a:b@id.example.org" },
      "t",
      "ANTIPHON_OIDC_ISSUER",
    ],
    [
      "without an audience",
      { ANTIPHON_OIDC_ISSUER: "https://id.example.org" },
      "t",
      "ANTIPHON_OIDC_AUDIENCE",
    ],
    ["without the deployment's token", GOOD, null, "ANTIPHON_OIDC_ISSUER"],
  ])("%s is refused", (_title, env, token, variable) => {
    expect(() => oidcOf(env, token)).toThrow(invalid(variable));
  });
});
