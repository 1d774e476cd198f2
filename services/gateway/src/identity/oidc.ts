// People of an OpenID Connect provider. A caller sends a token that the provider signed for this deployment; its claims
// say who they are, which roles they have and which tenant they belong to.
//
// The provider's keys come from its discovery document and are kept; a key that is not known is looked for again, at most
// once per half minute. Only asymmetric signatures count, so nobody can sign with a public key as if it were a secret.
import { AntiphonError } from "@antiphon/contracts";
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify } from "jose";
import type { JWTPayload, JWTVerifyGetKey } from "jose";
import type { OidcConfig } from "./oidc-settings.ts";
import { isRole, TENANT, type Identity } from "./roles.ts";

const ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
const CLOCK_TOLERANCE_S = 30;
const DISCOVERY_MS = 5_000;
const DISCOVERY_BYTES = 256 * 1024;

export class OidcPeople {
  readonly #config: OidcConfig;
  #keys: Promise<JWTVerifyGetKey> | null = null;

  constructor(config: OidcConfig) {
    this.#config = config;
  }

  /** Whether a token claims to be of this provider. Nothing is verified yet. */
  issued(token: string): boolean {
    try {
      return decodeJwt(token).iss === this.#config.issuer;
    } catch (error) {
      if (error instanceof errors.JOSEError) return false;
      throw error;
    }
  }

  /** @throws AntiphonError ANT_GATEWAY_TOKEN_REQUIRED, or ANT_GATEWAY_IDENTITY if the provider does not answer */
  async identify(token: string): Promise<Identity> {
    const { issuer, audience } = this.#config;
    const keys = await this.#keySet();
    try {
      const expected = { issuer, audience, algorithms: ALGORITHMS, clockTolerance: CLOCK_TOLERANCE_S };
      const { payload } = await jwtVerify(token, keys, { ...expected, requiredClaims: ["exp", "sub"] });
      return this.#identityOf(payload);
    } catch (error) {
      if (error instanceof errors.JWKSTimeout || isNetwork(error)) throw unavailable(issuer, error);
      if (!(error instanceof errors.JOSEError)) throw error;
      const what = error instanceof errors.JWTExpired ? "has expired" : `is not valid (${error.code})`;
      throw new AntiphonError("ANT_GATEWAY_TOKEN_REQUIRED", `the token of ${issuer} ${what}`, {
        cause: error,
      });
    }
  }

  #identityOf(payload: JWTPayload): Identity {
    const { nameClaim, rolesClaim, tenantClaim, issuer } = this.#config;
    const name = payload[nameClaim];
    if (typeof name !== "string" || !/^[\x21-\x7e]{1,200}$/.test(name))
      throw new AntiphonError(
        "ANT_GATEWAY_TOKEN_REQUIRED",
        `the token of ${issuer} has no claim ${nameClaim} of printable characters without spaces`,
      );
    const claimed = payload[rolesClaim];
    const roles = (Array.isArray(claimed) ? claimed : [claimed]).filter(isRole);
    const tenant = payload[tenantClaim];
    return {
      // The prefix keeps names of the provider apart from people with local tokens.
      principal: `oidc:${name}`,
      roles: roles.length === 0 ? ["viewer"] : roles,
      tenancy: {
        kind: "assigned",
        tenant: typeof tenant === "string" && TENANT.test(tenant) ? tenant : null,
      },
    };
  }

  #keySet(): Promise<JWTVerifyGetKey> {
    this.#keys ??= discover(this.#config.issuer).catch((error: unknown) => {
      this.#keys = null; // The next caller asks again.
      throw error;
    });
    return this.#keys;
  }
}

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  let found: { issuer?: unknown; jwks_uri?: unknown };
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(DISCOVERY_MS), redirect: "error" });
    if (!answer.ok) throw new Error(`${address} answers ${answer.status}`);
    const text = await answer.text();
    if (text.length > DISCOVERY_BYTES)
      throw new Error(`${address} answers more than ${DISCOVERY_BYTES} bytes`);
    found = JSON.parse(text) as typeof found;
  } catch (error) {
    throw unavailable(issuer, error);
  }
  if (found.issuer !== issuer || typeof found.jwks_uri !== "string" || !URL.canParse(found.jwks_uri))
    throw unavailable(issuer, new Error(`${address} describes another issuer, or names no keys`));
  return createRemoteJWKSet(new URL(found.jwks_uri), { timeoutDuration: DISCOVERY_MS });
}

function isNetwork(error: unknown): boolean {
  return (
    error instanceof TypeError || (error instanceof errors.JOSEError && error.code === "ERR_JOSE_GENERIC")
  );
}

function unavailable(issuer: string, cause: unknown): AntiphonError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new AntiphonError("ANT_GATEWAY_IDENTITY", `${issuer}: ${why}`, { cause });
}
