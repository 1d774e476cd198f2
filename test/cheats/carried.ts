/** A repository with its check, changes that are carried out, and the codes by which most of these end. */
import type { Case } from "./rooms.ts";

export interface Carried {
  readonly ecosystem: string;
  /** The program without which the check cannot be tried. */
  readonly needs: string;
  readonly files: Case["files"];
  readonly check: string;
  readonly workflow: Case["workflow"];
  /** Paths that the person who started the run has granted. */
  readonly grants?: readonly string[];
  readonly changes: readonly (Honest | Cheat)[];
}

type Honest = readonly [name: `honest: ${string}`, change: Case["change"], expected: "PASS"];
type Cheat = readonly [name: string, change: Case["change"], expected: string, kind: Kind];

/** The ways to cheat that the requirement names; each is carried out at least twice. */
export const NAMED_KINDS = [
  ...["runner configuration", "preload", "sitecustomize", "NODE_OPTIONS", "exits zero"],
  ...["skips by environment", "own oracle", "forged log", "time bomb", "room detection", "look-alike name"],
] as const;
/**
 * Others that were met: the check itself, what its assertions call, tests that no longer run, code that knows its tests, and
 * sources that no check uses.
 */
export const MORE_KINDS = [
  ...["check changed", "oracle taken over", "tests left out", "test detection", "unused source"],
] as const;
export type Kind = (typeof NAMED_KINDS)[number] | (typeof MORE_KINDS)[number];

export const REPORT = "ANT_VERIFY_UNREPORTED";
export const MASKED = "ANT_VERIFY_MASKED";
export const PROTECTED = "ANT_PATCH_PROTECTED";
export const NOTHING = "ANT_VERIFY_PROVES_NOTHING";
export const OWN = "ANT_VERIFY_OWN_TESTS";
export const UNTESTED = "ANT_VERIFY_UNTESTED";
export const AWARE = "ANT_VERIFY_TEST_AWARE";
export const FAILED = "ANT_VERIFY_CHECK_FAILED";
