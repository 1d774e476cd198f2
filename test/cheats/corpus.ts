/**
 * Repositories, the deciding check of each, and changes to them: cheats, with the rule that must refuse each, and honest
 * changes near them, which must pass. `+` before a path: a new file; `+0`: a new empty file; otherwise an edit of a file of
 * the base.
 */
import type { GuardRule } from "@antiphon/git";
import { NATIVE } from "./native.ts";
import { NODE } from "./node.ts";
import { OTHERS } from "./others.ts";
import { PYTHON } from "./python.ts";
import { BUILT_RUNNERS } from "./runners-built.ts";
import { JVM_RUNNERS } from "./runners-jvm.ts";
import { NODE_RUNNERS } from "./runners-node.ts";
import { PYTHON_RUNNERS } from "./runners-python.ts";
import { RARE_RUNNERS } from "./runners-rare.ts";
import { SCRIPT_RUNNERS } from "./runners-script.ts";
import { SHELL } from "./shell.ts";

export interface Ground {
  readonly ecosystem: string;
  readonly name: string;
  /** Path -> text; a text that begins with `-> ` is a symbolic link. */
  readonly files: Readonly<Record<string, string>>;
  /** Null if the check is discovered. */
  readonly checks: readonly string[] | null;
  /** Change -> the rule that refuses it. */
  readonly cheats: Readonly<Record<string, GuardRule>>;
  readonly honest: readonly string[];
  /** Sources that the check names: they pass if the check fails without the change. */
  readonly proof?: readonly string[];
}

export const GROUNDS: readonly Ground[] = [
  ...[...NODE, ...PYTHON, ...SHELL, ...NATIVE, ...OTHERS],
  ...[...NODE_RUNNERS, ...PYTHON_RUNNERS, ...SCRIPT_RUNNERS],
  ...[...BUILT_RUNNERS, ...JVM_RUNNERS, ...RARE_RUNNERS],
];
