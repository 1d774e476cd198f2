/**
 * Whose sandbox outcomes a Director believes: those of the runners whose public keys are in the file the deployment
 * provides (ANTIPHON_TRUSTED_RUNNERS, a JWK set). Any client may join the runners' queue group and answer "exit 0" without
 * running anything; its answer is logged, counted and not used.
 */
import { readFileSync } from "node:fs";
import {
  AntiphonError,
  outcomeDigest,
  type DirectorKey,
  type SandboxOutcome,
  type SandboxRequest,
} from "@antiphon/contracts";
import { trustedKeys, trustToBeMade, type Trust } from "../journal/trust.ts";
import type { Logger } from "../process/logger.ts";
import { makeOnce } from "../process/made-once.ts";

export class OutcomeTrust {
  /** Exported as `antiphon_forged_outcomes_total`. */
  forged = 0;
  readonly #trust: Trust;
  readonly #log: Logger;

  constructor(trust: Trust, log: Logger) {
    this.#trust = trust;
    this.#log = log;
  }

  /** A file that does not exist yet is read when the first runner has made it. */
  static inFile(file: string, log: Logger): OutcomeTrust {
    return new OutcomeTrust(trustToBeMade(file, "outcome"), log);
  }

  /** False for an outcome that no trusted runner signed for this very request; that is an alarm. */
  believes(request: SandboxRequest, outcome: SandboxOutcome, signature: string): boolean {
    const reason = this.#trust.doubt(signature, outcomeDigest(request, outcome));
    if (reason === null) return true;
    this.forged += 1;
    const { run, task, epoch, jobId } = request;
    const { code, remedy } = new AntiphonError("ANT_SANDBOX_FORGED", reason);
    this.#log.error({ code, run, task, epoch, jobId, reason, remedy }, "forged outcome");
    return false;
  }
}

/**
 * Checks that a runner's own key is trusted before it takes a job; creates the file, with only that key, if there is none.
 *
 * @throws AntiphonError ANT_TRUST_MISSING when the file names other keys only.
 */
export function pinRunnerKey(file: string, key: DirectorKey, log: Logger): void {
  const pinned = (): DirectorKey[] => trustedKeys(file, readFileSync(file, "utf8"), "outcome");
  let keys: DirectorKey[];
  try {
    keys = pinned();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    makeOnce(file, `${JSON.stringify({ keys: [key] }, null, 2)}\n`, 0o644);
    log.info({ file, kid: key.kid }, "trusted runners: created a file with this runner's key");
    keys = pinned(); // Another runner may have made it first.
  }
  if (keys.some(({ kid }) => kid === key.kid)) return;
  const variable = "ANTIPHON_TRUSTED_RUNNERS";
  throw new AntiphonError("ANT_TRUST_MISSING", `${file} does not name this runner's own key ${key.kid}`, {
    data: { variable, kid: key.kid },
  });
}
