// The NATS users of a deployment: one seed file for each principal, and the accounts that a nats-server gives them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accountsConfig, type PublicKeys } from "@antiphon/contracts/principals/nats-accounts";
import { PRINCIPALS, type Principal } from "@antiphon/contracts/principals/principals";
import { Failure } from "../failure.ts";
import { createWhole } from "../keys/whole-file.ts";
import { makeUserKey, userKeyOf } from "./nkey.ts";

export interface MadeUsers {
  readonly keys: PublicKeys;
  /** Principals whose seed file was created now. */
  readonly made: readonly Principal[];
}

/** The file with the seed of a principal's user. `nats --nkey` reads it too. */
export const seedFile = (directory: string, principal: string): string => join(directory, `${principal}.nk`);

/** Creates the seed files that do not exist (mode 0600, directory 0700) and returns all public keys. */
export function makeUsers(directory: string): MadeUsers {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const made: Principal[] = [];
  const keys = PRINCIPALS.map((principal): [Principal, string] => {
    const file = seedFile(directory, principal);
    if (createWhole(file, () => `${makeUserKey().seed}\n`, 0o600)) made.push(principal);
    const key = userKeyOf(readFileSync(file, "utf8").trim());
    if (key === null) throw new Failure("ANT_CONFIG_INVALID", `${file} holds no seed of a NATS user`);
    return [principal, key.publicKey];
  });
  return { keys: Object.fromEntries(keys), made };
}

/**
 * Writes what a deployment needs into a directory: `<principal>.nk` with the seed, `<principal>.env` with the same as a
 * setting (both mode 0600), and `accounts.conf`, which nats.conf includes and which holds no secret. Seeds that exist
 * are kept, so it may be repeated, for example after an upgrade.
 */
export function bootstrapUsers(directory: string, partitions: number): MadeUsers {
  const users = makeUsers(directory);
  for (const principal of PRINCIPALS) {
    const seed = readFileSync(seedFile(directory, principal), "utf8").trim();
    writeFileSync(join(directory, `${principal}.env`), `ANTIPHON_NATS_CREDS=${seed}\n`, { mode: 0o600 });
  }
  const header =
    '# Written by "antiphon nats bootstrap". Public keys only; changes here are lost when it is repeated.\n';
  writeFileSync(join(directory, "accounts.conf"), header + accountsConfig({ keys: users.keys, partitions }), {
    mode: 0o644,
  });
  return users;
}
