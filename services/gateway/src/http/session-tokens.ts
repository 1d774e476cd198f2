// Short-lived tokens with which prompts are forwarded (seed 000). The gateway is the control plane that issues them.
//
// Lifecycle of a token: issued at session start -> used for prompts -> expired. There is no list of tokens: what a
// gateway needs to check one is derived from the deployment's own token, so every gateway of it takes the tokens of
// every other, and a deployment without a token takes those of its own process.
//
// Invariants:
//   N1 A token is good for limits.sessionTokenS and for one purpose; what is altered, expired or meant for
//      something else is refused.
//   N2 A session token opens no session: whoever holds one cannot prolong it.
import { hkdfSync, randomBytes } from "node:crypto";
import { AntiphonError, limits } from "@antiphon/contracts";
import { errors, jwtVerify, SignJWT } from "jose";

const AUDIENCE = "antiphon-prompts";
const ALGORITHM = "HS256";

export interface Session {
  readonly sessionId: string;
  /** Whom the session speaks for. */
  readonly principal: string;
  /** It was opened with a repository, and reaches nothing else. */
  readonly bound: boolean;
}

export class SessionTokens {
  readonly #secret: Uint8Array;
  readonly #now: () => number;

  constructor(deploymentToken: string | null, now: () => number = Date.now) {
    this.#secret =
      deploymentToken === null
        ? randomBytes(32)
        : new Uint8Array(hkdfSync("sha256", deploymentToken, "antiphon", "session-token.v1", 32));
    this.#now = now;
  }

  async issue({ sessionId, principal, bound }: Session): Promise<{ token: string; expiresAt: string }> {
    const issuedAt = Math.floor(this.#now() / 1000);
    const expiresAt = issuedAt + limits.sessionTokenS; // N1
    const token = await new SignJWT({ sid: sessionId, bound })
      .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
      .setSubject(principal)
      .setAudience(AUDIENCE)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(this.#secret);
    return { token, expiresAt: new Date(expiresAt * 1000).toISOString() };
  }

  /** @throws AntiphonError ANT_SESSION_EXPIRED, or ANT_GATEWAY_TOKEN_REQUIRED for anything that is no token of ours */
  async verify(token: string): Promise<Session> {
    const expected = { audience: AUDIENCE, algorithms: [ALGORITHM], currentDate: new Date(this.#now()) };
    try {
      const { payload } = await jwtVerify(token, this.#secret, expected); // N1
      const { sid, sub, bound } = payload;
      if (typeof sid === "string" && typeof sub === "string" && typeof bound === "boolean")
        return { sessionId: sid, principal: sub, bound };
    } catch (error) {
      if (error instanceof errors.JWTExpired)
        throw new AntiphonError("ANT_SESSION_EXPIRED", `the session token ended at its time`, {
          cause: error,
        });
      if (!(error instanceof errors.JOSEError)) throw error;
    }
    throw new AntiphonError("ANT_GATEWAY_TOKEN_REQUIRED", "the session token is not one of this deployment");
  }
}
