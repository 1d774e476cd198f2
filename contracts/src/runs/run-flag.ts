/**
 * An option of `antiphon run` on the command line, as data. The CLI turns it into a commander option, its help and a part
 * of the intent. Pure.
 */

/**
 * How the CLI reads a flag: `text` and `texts` (repeatable) as given, `list` as texts with commas between, `word` in upper case, `number` as a whole number,
 * `count` as a number that is 1 if left out, `usd` in millionths, `switch` as true, `never` as
 * false, `off` as the empty list of the option before it, `argv` as the words of a program.
 * `pairs` (repeatable) as the fields of an object, each `name=value`. `patch`, `tasks` and `recording` name a file; `plan`
 * a file, a directory or a run; `gate-agent` an agent pack.
 */
export type FlagReading =
  | "text"
  | "texts"
  | "list"
  | "pairs"
  | "word"
  | "number"
  | "count"
  | "usd"
  | "switch"
  | "never"
  | "off"
  | "argv"
  | "patch"
  | "tasks"
  | "plan"
  | "recording"
  | "gate-agent";

/** Where `antiphon run --help` lists a flag, in this order. */
export const FLAG_GROUPS = {
  work: "The work:",
  agent: "Who does it, with what means:",
  proof: "What proves it:",
  people: "Who decides before it lands:",
  sandbox: "The sandbox:",
} as const;
export type FlagGroup = keyof typeof FLAG_GROUPS;
export const FLAG_GROUP_NAMES = Object.keys(FLAG_GROUPS) as readonly FlagGroup[];

/** A flag that its option puts in a group. */
export interface Flag {
  /** In commander's notation: `--check <cmd>`. */
  readonly flag: string;
  readonly reads: FlagReading;
  readonly help: string;
  /** The field of an option that is an object; null: the flag is the option itself. */
  readonly field: string | null;
}

export interface RunFlag extends Flag {
  readonly group: FlagGroup;
}

export function flag(notation: string, reads: FlagReading, help: string, field: string | null = null): Flag {
  return { flag: notation, reads, help, field };
}

export function within(group: FlagGroup, ...flags: readonly Flag[]): RunFlag[] {
  return flags.map((one) => ({ ...one, group }));
}
