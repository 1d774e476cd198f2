import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { DirectorKey, Doubt } from "@antiphon/contracts";
import { AntiphonError, parseSignature, thumbprintOf, trustIn, validate } from "@antiphon/contracts";

/**
 * Whose decisions a process believes: the Directors whose public keys stand in a file that the deployment gives it
 * (ANTIPHON_TRUSTED_KEYS, a JWK set). Nothing that was written over NATS can add to it.
 *
 * Invariants:
 *   TK1 A key that was added to the file is believed without a restart: a signature of an unknown key makes the file
 *      be read again, if it changed. One that was taken out is believed until the process ends.
 *   TK2 A file that cannot be read any more, or holds something else, adds nothing and takes nothing away.
 */
export interface Trust {
  readonly doubt: Doubt;
  /** Null: nothing is checked (ANTIPHON_UNSAFE_TRUST). */
  keys(): readonly DirectorKey[] | null;
}

/** For tests and tools whose records are not about signatures. Services need ANTIPHON_UNSAFE_TRUST=1 for it. */
export const unsafeTrust: Trust = { doubt: () => null, keys: () => null };

/** Of a process that was told of no key: it believes no decision. */
export const noTrust: Trust = pinnedTrust([]);

export function pinnedTrust(keys: readonly DirectorKey[]): Trust {
  return { doubt: trustIn(keys), keys: () => keys };
}

/** How long a service waits for a file that the Director of the same deployment is about to make. */
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
      if (Date.now() >= until) throw missing(`there is no file ${file}`);
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** For the process that makes the file (own-key.ts): until then nobody is believed. */
export function trustToBeMade(file: string): Trust {
  const version = versionOf(file);
  const keys = version === "" ? [] : trustedKeys(file, readFileSync(file, "utf8"));
  return new FileTrust(file, version, keys);
}

/** The keys of a JWK set. @throws AntiphonError ANT_CONFIG_INVALID, ANT_TRUST_MISSING when it has none. */
export function trustedKeys(file: string, text: string): DirectorKey[] {
  let keys: unknown;
  try {
    keys = (JSON.parse(text) as { keys?: unknown } | null)?.keys;
  } catch {
    throw invalid(file, "is not JSON");
  }
  if (!Array.isArray(keys)) throw invalid(file, "has no list `keys`");
  if (keys.length === 0) throw missing(`${file} names no key`);
  return keys.map((key: unknown, i) => {
    if (!isKey(key)) throw invalid(file, `key ${i + 1} is not an Ed25519 public key under its thumbprint`);
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
  /** Of the file as it was read. */
  #version: string;

  constructor(file: string, version: string, keys: readonly DirectorKey[]) {
    this.#file = file;
    this.#version = version;
    this.#keys = keys;
    this.#doubt = trustIn(keys);
  }

  keys(): readonly DirectorKey[] {
    return this.#keys;
  }

  readonly doubt: Doubt = (signature, digest) => {
    const why = this.#doubt(signature, digest);
    const kid = why === null ? null : parseSignature(signature)?.kid;
    const isUnknown = kid !== undefined && kid !== null && this.#keys.every((key) => key.kid !== kid);
    return isUnknown && this.#readAgain() ? this.#doubt(signature, digest) : why; // TK1
  };

  /** True: it holds something else than before. */
  #readAgain(): boolean {
    const version = versionOf(this.#file);
    if (version === this.#version) return false;
    this.#version = version;
    try {
      const added = trustedKeys(this.#file, readFileSync(this.#file, "utf8"));
      const before = this.#keys.filter(({ kid }) => added.every((key) => key.kid !== kid)); // TK1
      this.#keys = [...before, ...added];
    } catch {
      return false; // TK2: the decision is doubted, and the alarm about it says which key was unknown.
    }
    this.#doubt = trustIn(this.#keys);
    return true;
  }
}

/** Empty: it is not there. */
function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

function missing(detail: string): AntiphonError {
  return new AntiphonError("ANT_TRUST_MISSING", detail, { data: { variable: "ANTIPHON_TRUSTED_KEYS" } });
}

function invalid(file: string, why: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `ANTIPHON_TRUSTED_KEYS=${JSON.stringify(file)}: it ${why}`, {
    data: { variable: "ANTIPHON_TRUSTED_KEYS" },
  });
}
