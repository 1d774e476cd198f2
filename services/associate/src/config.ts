/** The settings of an Associate beside those of the runtime. */
import { join, resolve } from "node:path";
import { AntiphonError } from "@antiphon/contracts";

export interface AssociateConfig {
  /** ANTIPHON_ASSOCIATE_ID. Null means the name of the process. */
  readonly associate: string | null;
  /** ANTIPHON_ASSOCIATE_SLOTS: number of concurrent attempts. Default 2. */
  readonly slots: number;
  /** The folder of the base trees, in ANTIPHON_CACHE_DIR, else in `cache` of the state directory. Bounded, safe to delete. */
  readonly cacheDir: string;
  /** Notes of the attempts that are worked on, in `claims` of ANTIPHON_STATE_DIR. */
  readonly claimsDir: string;
  /** ANTIPHON_SANDBOX_PATIENCE_MS: how long a fault of the runner or engine is tried again. Default 30,000. */
  readonly sandboxPatienceMs: number;
}

type Env = Readonly<Record<string, string | undefined>>;

export function readAssociateConfig(env: Env = process.env): AssociateConfig {
  const associate = env["ANTIPHON_ASSOCIATE_ID"] ?? "";
  if (associate !== "" && !/^[A-Za-z0-9_.-]{1,64}$/.test(associate)) {
    throw new AntiphonError(
      "ANT_CONFIG_INVALID",
      `ANTIPHON_ASSOCIATE_ID=${JSON.stringify(associate)} is not a valid name`,
    );
  }
  const state = resolve(env["ANTIPHON_STATE_DIR"] ?? ".antiphon");
  return {
    associate: associate === "" ? null : associate,
    slots: integer(env, "ANTIPHON_ASSOCIATE_SLOTS", 2, 1, 64),
    cacheDir: join(resolve(env["ANTIPHON_CACHE_DIR"] ?? join(state, "cache")), "associate-trees"),
    claimsDir: join(state, "claims"),
    sandboxPatienceMs: integer(env, "ANTIPHON_SANDBOX_PATIENCE_MS", 30_000, 0, 3_600_000),
  };
}

function integer(env: Env, name: string, fallback: number, min: number, max: number): number {
  const text = env[name] ?? "";
  if (text === "") return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new AntiphonError(
    "ANT_CONFIG_INVALID",
    `${name}=${JSON.stringify(text)} is not a whole number from ${min} to ${max}`,
  );
}
