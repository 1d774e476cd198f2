// The input of the tool that starts a run, derived from the table of run options. Pure.
//
// Each option has the name of its flag of `antiphon run`, without the dashes in front: `--time-budget` is `time-budget`. A
// client has no files here, so a patch is given as text, and options that name other files are left out.
import { splitDiff } from "@antiphon/contracts/documents/unified-diff";
import type { Patch } from "@antiphon/contracts";
import type { RunFlag } from "@antiphon/contracts/runs/run-options";
import { z } from "zod";
import { Failure } from "../failure.ts";
import type { RunFlags } from "../runs/run-request.ts";

type Given = Readonly<Record<string, unknown>>;

/** Options of this kind name a file of the person who types the command. */
const OF_FILES: ReadonlySet<RunFlag["reads"]> = new Set(["tasks", "recording"]);

const words = z.array(z.string().min(1).max(4096)).max(64);
const TYPES: Readonly<Record<Exclude<RunFlag["reads"], "tasks" | "recording">, z.ZodType>> = {
  text: z.string().max(4096),
  word: z.string().max(64),
  list: z.string().max(1024),
  texts: words,
  pairs: words,
  argv: words,
  switch: z.boolean(),
  off: z.boolean(),
  never: z.boolean(),
  number: z.number().int().min(0),
  count: z.number().int().min(1),
  usd: z.number().min(0).max(9999),
  patch: z.string(),
  plan: z.string().max(4096),
  "gate-agent": z.string().max(4096),
};

const HELP: Readonly<Record<string, string>> = {
  patch: "a unified diff as text, to verify and land as it is; or the id of a run, for the change it left",
  plan: "the id of a PLAN run whose plan is to be carried out, or a plan file of this machine",
};

/** The shape of the tool's input. */
export function runShape(flags: readonly RunFlag[]): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {
    goal: z
      .string()
      .max(8192)
      .optional()
      .describe("The goal of the run, in plain words. Default: the goal of the plan."),
    repo: z
      .string()
      .max(4096)
      .optional()
      .describe(
        "The git repository: an absolute path, or a URL. Default: the one the server was started in.",
      ),
  };
  for (const { flag, reads, help } of flags) {
    if (OF_FILES.has(reads)) continue;
    const name = nameOf(flag);
    shape[name] = TYPES[reads as keyof typeof TYPES].optional().describe(HELP[name] ?? help);
  }
  return shape;
}

/** The input as the flags of `antiphon run`, by commander's names. */
export function runFlagsOf(flags: readonly RunFlag[], given: Given): RunFlags {
  const read: Record<string, unknown> = {};
  for (const { flag, reads } of flags) {
    const value = given[nameOf(flag)];
    if (value === undefined || OF_FILES.has(reads)) continue;
    if (value === false && (reads === "switch" || reads === "never" || reads === "off")) continue;
    const text = reads === "number" || reads === "count" || reads === "usd";
    read[commanderName(flag)] =
      reads === "never" || reads === "off" ? false : text ? plainNumber(value) : value;
  }
  return read;
}

/** Null: the text is none, or names a run. */
export function patchIn(text: string | undefined): Patch | null {
  if (text === undefined) return null;
  const files = splitDiff(text);
  if (files.length > 0) return { files };
  throw new Failure("ANT_PATCH_MALFORMED", "the patch contains no unified diff", { exitCode: 2 });
}

/** `--time-budget <seconds>`: `time-budget`. */
function nameOf(flag: string): string {
  return (flag.split(" ", 1)[0] ?? flag).slice(2);
}

/** Commander calls `--no-record` `record`, and `--time-budget` `timeBudget`. */
function commanderName(flag: string): string {
  return nameOf(flag)
    .replace(/^no-/, "")
    .replace(/-./g, ([, letter = ""]) => letter.toUpperCase());
}

/** Without an exponent, as people type it. */
function plainNumber(value: unknown): string {
  return Number(value)
    .toFixed(6)
    .replace(/\.?0+$/, "");
}
