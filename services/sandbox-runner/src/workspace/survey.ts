/**
 * Selects the paths of a workspace that have to be taken out to find its changes: those that its supervisor reports as
 * different from what it remembered, without those that git ignores, and with those that it cannot know about.
 */
import { ByteQueue } from "../conversation/byte-queue.ts";
import type { Baseline } from "./collected.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { checkPath } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";
import type { Untouched } from "./untouched.ts";

/** A supervisor's report: paths that are new or differ, and paths that are missing. */
export interface Survey {
  readonly changed: readonly string[];
  readonly missing: ReadonlySet<string>;
}

const MOST_BYTES = 64 * 1024 * 1024;
/** Far more than any path has. An incomplete name is held in memory. */
const MOST_NAME_BYTES = 64 * 1024;
const MOST_RULE_FILES = 1000;
const NUL = 0;

/** Reads names, each with a sign before it and a NUL after it, from a stream. */
export abstract class NamesReader {
  readonly #maxEntries: number;
  readonly #tail = new ByteQueue();
  #bytes = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > MOST_BYTES) throw new Refusal("too-many-entries", `${MOST_BYTES} bytes of names`);
    this.#tail.push(piece);
    if (!piece.includes(NUL)) {
      if (this.#tail.length > MOST_NAME_BYTES) throw new Refusal("path-length", `${this.#tail.length} bytes`);
      return;
    }
    const bytes = this.#tail.joined();
    let at = 0;
    for (let end = bytes.indexOf(NUL); end >= 0; end = bytes.indexOf(NUL, at)) {
      const record = bytes.toString("utf8", at, end);
      if (this.record(record) > this.#maxEntries) throw new Refusal("too-many-entries", record);
      at = end + 1;
    }
    this.#tail.keep(bytes.subarray(at));
  }

  /** Refuses a list that stopped early. */
  protected finish(): void {
    if (this.#tail.length > 0) throw new Refusal("tar-truncated", "the list of changes");
  }

  /** Takes one name with its sign. Returns how many of its kind there are now. */
  protected abstract record(record: string): number;
}

/** Reads `+path` for what is new or differs, and `-path` for what is missing. */
export class SurveyReader extends NamesReader {
  readonly #changed: string[] = [];
  readonly #missing = new Set<string>();

  result(): Survey {
    this.finish();
    return { changed: this.#changed, missing: this.#missing };
  }

  protected record(record: string): number {
    const path = record.slice(1);
    if (record.startsWith("-")) this.#missing.add(path);
    else this.#changed.push(path);
    return this.#changed.length;
  }
}

/** The rule files of the workspace, without those of by-products. */
export function ruleFilesOf(
  survey: Survey,
  remembered: Baseline,
  byProducts: IgnoreRules,
): readonly string[] {
  const isRuleFile = (path: string): boolean =>
    path.endsWith(".gitignore") && /(^|\/)\.gitignore$/.test(path) && !byProducts.ignores(path);
  const kept = [...remembered.keys()].filter((path) => isRuleFile(path) && !survey.missing.has(path));
  const found = new Set([...kept, ...survey.changed.filter(isRuleFile)]);
  return [...found].sort((a, b) => a.length - b.length).slice(0, MOST_RULE_FILES);
}

/** The paths to take out and judge. */
export function select(
  survey: Survey,
  baseline: Baseline,
  untouched: Untouched,
  ignores: (path: string) => boolean,
  maxFiles: number,
): readonly string[] {
  const wanted: string[] = [];
  let added = 0;
  for (const path of new Set(survey.changed)) {
    if (baseline.has(path)) wanted.push(path);
    else if (!ignores(path)) {
      wanted.push(checkPath(path));
      added += 1;
      if (added > maxFiles) throw new Refusal("too-many-files", path); // refused before any file is sent
    }
  }
  return [...wanted, ...untouched.replaced()];
}
