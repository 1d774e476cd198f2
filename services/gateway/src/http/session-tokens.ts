// Short-lived tokens with which prompts are forwarded (seed 000). The gateway is the control plane that issues them.
//
// Lifecycle of a token: issued at session start -> used for prompts -> expired. A token is valid for
// limits.sessionTokenS and for one purpose, and it cannot open a session, so its holder cannot prolong it. Tokens are not
// stored: gateways with the same key accept each other's. The key is known to gateways only. It does not follow from the
// deployment's token, because callers have that one and could make a session of anybody. Without a key it is random, and
// only the issuing process accepts its tokens.
import { hkdfSync, randomBytes } from "node:crypto";
import { AntiphonError, limits } from "@antiphon/contracts";
import { isRole, type Role, type Tenancy } from "../identity/roles.ts";
import { errors, jwtVerify, SignJWT } from "jose";

const AUDIENCE = "antiphon-prompts";
const ALGORITHM = "HS256";

export interface Session {
  readonly sessionId: string;
  /** The principal that opened the session. */
  readonly principal: string;
  /** It was opened with a repository and reaches nothing else. */
  readonly bound: boolean;
  /** As they were when the session was opened. */
  readonly roles: readonly Role[];
  readonly tenancy: Tenancy;
}

export class SessionTokens {
  readonly #secret: Uint8Array;
  readonly #now: () => number;

  constructor(key: string | null, now: () => number = Date.now) {
    this.#secret =
      key === null
        ? randomBytes(32)
        : new Uint8Array(hkdfSync("sha256", key, "antiphon", "session-token.v1", 32));
    this.#now = now;
  }

  async issue({
    sessionId,
    principal,
    bound,
    roles,
    tenancy,
  }: Session): Promise<{ token: string; expiresAt: string }> {
    const issuedAt = Math.floor(this.#now() / 1000);
    const expiresAt = issuedAt + limits.sessionTokenS;
    const token = await new SignJWT({
      sid: sessionId,
      bound,
      roles: [...roles],
      ...(tenancy.kind === "free" ? {} : { tenant: tenancy.tenant }),
    })
      .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
      .setSubject(principal)
      .setAudience(AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#secret);
    return { token, expiresAt: new Date(expiresAt * 1000).toISOString() };
  }

  /** @throws AntiphonError ANT_SESSION_EXPIRED, or ANT_GATEWAY_TOKEN_REQUIRED for any other invalid token */
  async verify(token: string): Promise<Session> {
    const expected = { audience: AUDIENCE, algorithms: [ALGORITHM], currentDate: new Date(this.#now()) };
    try {
      const { payload } = await jwtVerify(token, this.#secret, expected);
      const { sid, sub, bound, roles, tenant } = payload;
      if (
        typeof sid === "string" &&
        typeof sub === "string" &&
        typeof bound === "boolean" &&
        Array.isArray(roles)
      )
        return {
          sessionId: sid,
          principal: sub,
          bound,
          roles: roles.filter(isRole),
          tenancy: tenancyOf(tenant),
        };
    } catch (error) {
      if (error instanceof errors.JWTExpired)
        throw new AntiphonError("ANT_SESSION_EXPIRED", `the session token has expired`, {
          cause: error,
        });
      if (!(error instanceof errors.JOSEError)) throw error;
    }
    throw new AntiphonError(
      "ANT_GATEWAY_TOKEN_REQUIRED",
      "the session token does not belong to this deployment",
    );
  }
}

/** A token without the claim is of a deployment that assigns no tenants. */
function tenancyOf(claim: unknown): Tenancy {
  if (claim === undefined) return { kind: "free" };
  return { kind: "assigned", tenant: typeof claim === "string" ? claim : null };
}
