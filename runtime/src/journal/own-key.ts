import { readFileSync } from "node:fs";
import type { DirectorKey } from "@antiphon/contracts";
import { AntiphonError, BUCKETS, validate } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { openKv } from "../stores/kv.ts";
import type { Logger } from "../process/logger.ts";
import { makeOnce } from "../process/made-once.ts";
import type { SigningKey } from "../process/signing-key.ts";
import { trustedKeys } from "./trust.ts";

/**
 * Checks that a Director's own key is trusted before it signs anything.
 *
 * A Director whose key is missing from the file does not start, because nobody would believe its decisions. A Director
 * creates the file, with only its own key, if there is none and no other Director has signed in this journal. Otherwise
 * the decisions of those Directors would count as forged, and their finished work would be done again.
 */
export async function pinOwnKey(bus: Bus, file: string, key: SigningKey, log: Logger): Promise<void> {
  const others = await publishedBesides(bus, key);
  const pinned = pinnedIn(file);
  if (pinned === null) {
    if (others.length > 0) throw notAdopted(file, others);
    makeOnce(file, `${JSON.stringify({ keys: [key.jwk] }, null, 2)}\n`, 0o644);
    log.info({ file, kid: key.jwk.kid }, "trusted keys: created a file with this Director's key");
  }
  if (!(pinned ?? pinnedIn(file) ?? []).some(({ kid }) => kid === key.jwk.kid)) {
    throw new AntiphonError(
      "ANT_TRUST_MISSING",
      `${file} does not name this Director's own key ${key.jwk.kid}`,
      {
        data: { variable: "ANTIPHON_TRUSTED_KEYS", kid: key.jwk.kid },
      },
    );
  }
  const strange = others.filter((kid) => (pinned ?? []).every((known) => known.kid !== kid));
  if (strange.length > 0)
    log.error(
      { kids: strange, file },
      "the bucket of keys holds keys that are not trusted; their signatures are ignored",
    );
}

function pinnedIn(file: string): DirectorKey[] | null {
  try {
    return trustedKeys(file, readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Thumbprints of the keys that other Directors published. */
async function publishedBesides(bus: Bus, { jwk }: SigningKey): Promise<string[]> {
  const kv = openKv(bus, BUCKETS.keys);
  const kids = (await kv.keys()).filter((kid) => kid !== jwk.kid);
  const found = await Promise.all(kids.map(async (kid) => ({ kid, key: (await kv.get(kid))?.value })));
  return found.filter(({ key }) => validate("DirectorKey", key).ok).map(({ kid }) => kid);
}

function notAdopted(file: string, kids: readonly string[]): AntiphonError {
  const detail =
    `${file} does not exist, and the journal was signed with other keys (${kids.join(", ")}): ` +
    "create the file with this Director's key and those of the others that are your Directors'";
  return new AntiphonError("ANT_TRUST_MISSING", detail, {
    data: { variable: "ANTIPHON_TRUSTED_KEYS", kids },
  });
}
