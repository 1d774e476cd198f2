import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { DirectorKey, Doubt, SignedFor } from "@antiphon/contracts";
import { AntiphonError, parseSignature, thumbprintOf, trustIn, validate } from "@antiphon/contracts";

/**
 * Whose decisions a process believes: those of the Directors whose public keys are in the file the deployment provides
 * (ANTIPHON_TRUSTED_KEYS, a JWK set). Nothing written over NATS can add a key.
 *
 * A key added to the file is believed without a restart: a signature of an unknown key makes the process read the file
 * again if it changed. A removed key is believed until the process ends. A file that has become unreadable changes
 * nothing.
 */
export interface Trust {
  readonly doubt: Doubt;
  /** Null: nothing is verified (ANTIPHON_UNSAFE_TRUST). */
  keys(): readonly DirectorKey[] | null;
}

/** For tests and tools that are not concerned with signatures. Services need ANTIPHON_UNSAFE_TRUST=1 for it. */
export const unsafeTrust: Trust = { doubt: () => null, keys: () => null };

/** For a process without keys: it believes no decision. */
export const noTrust: Trust = pinnedTrust([]);

export function pinnedTrust(keys: readonly DirectorKey[], purpose: SignedFor = "record"): Trust {
  return { doubt: trustIn(keys, purpose), keys: () => keys };
}

/** The settings that name a file of trusted keys. */
const VARIABLES: Readonly<Record<SignedFor, string>> = {
  record: "ANTIPHON_TRUSTED_KEYS",
  outcome: "ANTIPHON_TRUSTED_RUNNERS",
};

/** How long a service waits for the file that the Director of the same deployment is about to create. */
const waitMs = 15_000;
const lookMs = 50;

/** @throws AntiphonError ANT_TRUST_MISSING when there is no file in time, ANT_CONFIG_INVALID when it is no JWK set. */
export async function openTrust(file: string, wait = waitMs): Promise<Trust> {
  for (const until = Date.now() + wait; ;) {
    try {
      const version = versionOf(file);
      return new FileTrust(file, version, trustedKeys(file, await readFile(file, "utf8")));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      if (Date.now() >= until) throw missing(`the file ${file} does not exist`);
    }
    await sleep(lookMs);
  }
}

/** For a file that may not exist yet; until then no signature is believed. */
export function trustToBeMade(file: string, purpose: SignedFor = "record"): Trust {
  const version = versionOf(file);
  const keys = version === "" ? [] : trustedKeys(file, readFileSync(file, "utf8"), purpose);
  return new FileTrust(file, version, keys, purpose);
}

/** The keys of a JWK set. @throws AntiphonError ANT_CONFIG_INVALID, or ANT_TRUST_MISSING if the set is empty. */
export function trustedKeys(file: string, text: string, purpose: SignedFor = "record"): DirectorKey[] {
  const variable = VARIABLES[purpose];
  let keys: unknown;
  try {
    keys = (JSON.parse(text) as { keys?: unknown } | null)?.keys;
  } catch {
    throw invalid(variable, file, "is not JSON");
  }
  if (!Array.isArray(keys)) throw invalid(variable, file, "has no list `keys`");
  if (keys.length === 0) throw missing(`${file} names no key`, variable);
  return keys.map((key: unknown, i) => {
    if (!isKey(key))
      throw invalid(variable, file, `key ${i + 1} is not an Ed25519 public key under its thumbprint`);
    return key;
  });
}

function isKey(key: unknown): key is DirectorKey {
  return validate("DirectorKey", key).ok && thumbprintOf((key as DirectorKey).x) === (key as DirectorKey).kid;
}

class FileTrust implements Trust {
  readonly #file: string;
  #keys: readonly DirectorKey[];
  #doubt: Doubt;
  /** Identifies the version of the file that was read. */
  #version: string;

  readonly #purpose: SignedFor;

  constructor(file: string, version: string, keys: readonly DirectorKey[], purpose: SignedFor = "record") {
    this.#file = file;
    this.#version = version;
    this.#keys = keys;
    this.#purpose = purpose;
    this.#doubt = trustIn(keys, purpose);
  }

  keys(): readonly DirectorKey[] {
    return this.#keys;
  }

  readonly doubt: Doubt = (signature, digest) => {
    const why = this.#doubt(signature, digest);
    const kid = why === null ? null : parseSignature(signature)?.kid;
    const isUnknown = kid !== undefined && kid !== null && this.#keys.every((key) => key.kid !== kid);
    return isUnknown && this.#readAgain() ? this.#doubt(signature, digest) : why;
  };

  /** True if the keys changed. */
  #readAgain(): boolean {
    const version = versionOf(this.#file);
    if (version === this.#version) return false;
    this.#version = version;
    try {
      const added = trustedKeys(this.#file, readFileSync(this.#file, "utf8"), this.#purpose);
      const before = this.#keys.filter(({ kid }) => added.every((key) => key.kid !== kid));
      this.#keys = [...before, ...added];
    } catch {
      return false; // The decision is doubted, and the alarm about it names the unknown key.
    }
    this.#doubt = trustIn(this.#keys, this.#purpose);
    return true;
  }
}

/** Empty if there is no file. */
function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

function missing(detail: string, variable = VARIABLES.record): AntiphonError {
  return new AntiphonError("ANT_TRUST_MISSING", detail, { data: { variable } });
}

function invalid(variable: string, file: string, why: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${variable}=${JSON.stringify(file)}: it ${why}`, {
    data: { variable },
  });
}
