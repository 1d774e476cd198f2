import { readFileSync } from "node:fs";
import { API_PREFIX, AntiphonError, inCore, isPrincipal, type Principal } from "@antiphon/contracts";

/**
 * The NATS user of a service: an nkey that the server's configuration gives the rights of one principal. The seed is
 * the only secret, and it stays in the file and in the memory of its service.
 */
export interface NatsUser {
  readonly principal: Principal;
  /** An nkey seed of a user (`SU...`), in ASCII. */
  readonly seed: Uint8Array;
}

const SEED = /\bSU[A-Z2-7]{56}\b/;

/**
 * `credentials`: the seed itself, or the path of a file that holds it.
 * @throws AntiphonError ANT_CONFIG_INVALID if the role has no user, or no seed is found. The error names no seed.
 */
export function readNatsUser(role: string, credentials: string): NatsUser {
  const invalid = (why: string): AntiphonError =>
    new AntiphonError("ANT_CONFIG_INVALID", `ANTIPHON_NATS_CREDS: ${why}`, {
      data: { variable: "ANTIPHON_NATS_CREDS" },
    });
  if (!isPrincipal(role)) throw invalid(`${role} has no NATS user`);
  let text = credentials;
  if (!SEED.test(credentials)) {
    try {
      text = readFileSync(credentials, "utf8");
    } catch (error) {
      throw invalid(`${credentials} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
  }
  const seed = SEED.exec(text)?.[0];
  if (seed === undefined) throw invalid(`${credentials} holds no seed of a NATS user`);
  return { principal: role, seed: Buffer.from(seed, "ascii") };
}

/** The prefix of JetStream's API for this user. */
export function apiOf(user: NatsUser | undefined): { apiPrefix?: string } {
  return user === undefined || inCore(user.principal) ? {} : { apiPrefix: API_PREFIX };
}
