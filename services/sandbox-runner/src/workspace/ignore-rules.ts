/**
 * Evaluates `.gitignore` files as git does (gitignore(5)), without git and without regular expressions, because both the
 * rules and the paths come from an untrusted repository.
 *
 * The last matching rule decides, rules of a deeper file before those of a shallower one, and no path below an ignored
 * directory is included again. The work is counted and refused beyond a bound, so no pattern can block the process.
 */
import { rulesOf, type Rule } from "./ignore-file.ts";
import { accepts, type Token } from "./ignore-glob.ts";
import { Refusal } from "./refusal.ts";

export interface RuleFile {
  /** The directory it is in: "" or "a/b". */
  readonly directory: string;
  /** One character for each byte. */
  readonly content: string;
}

const MOST_STEPS = 50_000_000;

export class IgnoreRules {
  readonly #files = new Map<string, readonly Rule[]>();
  readonly #fallback: readonly Rule[];
  readonly #directories = new Map<string, boolean>([["", false]]);
  #steps = 0;
  readonly #mostSteps: number;

  /** `fallback`: rules for the whole tree that any file can override, as `.git/info/exclude`. */
  constructor(files: readonly RuleFile[], fallback: readonly string[], mostSteps = MOST_STEPS) {
    this.#mostSteps = mostSteps;
    for (const { directory, content } of files) {
      this.#files.set(bytewise(directory), rulesOf(content));
    }
    this.#fallback = rulesOf(fallback.join("\n"));
  }

  /** True for a path that is not a directory and that `git add` would skip. */
  ignores(path: string): boolean {
    const name = bytewise(path);
    return this.#ignoresDirectory(parentOf(name)) || this.#decide(name, false);
  }

  /** Works from the top down and without recursion: a path may have as many directories as it has characters. */
  #ignoresDirectory(directory: string): boolean {
    const known = this.#directories.get(directory);
    if (known !== undefined) return known;
    for (let end = directory.indexOf("/"); ; end = directory.indexOf("/", end + 1)) {
      const upper = end < 0 ? directory : directory.slice(0, end);
      const ignored = this.#directories.get(upper) ?? this.#decide(upper, true);
      this.#directories.set(upper, ignored);
      if (!ignored && end >= 0) continue;
      this.#directories.set(directory, ignored);
      return ignored;
    }
  }

  #decide(path: string, isDirectory: boolean): boolean {
    for (let from = parentOf(path); ; from = parentOf(from)) {
      this.#count(path, 1 + (from.length >> 4)); // the look-up reads the directory's name
      const rules = this.#files.get(from);
      const verdict = rules === undefined ? null : this.#last(rules, relative(path, from), isDirectory);
      if (verdict !== null) return verdict;
      if (from === "") return this.#last(this.#fallback, path, isDirectory) ?? false;
    }
  }

  #last(rules: readonly Rule[], path: string, isDirectory: boolean): boolean | null {
    const parts = path.split("/");
    for (let i = rules.length - 1; i >= 0; i -= 1) {
      const rule = rules[i];
      this.#count(path, 1);
      if (rule === undefined || (rule.directoriesOnly && !isDirectory)) continue;
      const subject = rule.anchored ? parts : parts.slice(-1);
      if (this.#matches(rule.parts, 0, subject, 0)) return rule.ignores;
    }
    return null;
  }

  #count(subject: string, steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#mostSteps) throw new Refusal("ignore-work", subject);
  }

  #matches(pattern: Rule["parts"], at: number, parts: readonly string[], from: number): boolean {
    const glob = pattern[at];
    if (glob === undefined) return from === parts.length;
    if (glob === null) {
      // At the end, two stars stand for the content of a directory: at least one part.
      if (at === pattern.length - 1) return from < parts.length;
      for (let next = from; next < parts.length; next += 1) {
        if (this.#matches(pattern, at + 1, parts, next)) return true;
      }
      return false;
    }
    const part = parts[from];
    if (part === undefined || !this.#matchesPart(glob, part)) return false;
    return this.#matches(pattern, at + 1, parts, from + 1);
  }

  /** Retries only the last star it met, so the work is at most the product of the two lengths. */
  #matchesPart(glob: readonly Token[], part: string): boolean {
    let at = 0;
    let from = 0;
    let star = -1;
    let resume = 0;
    for (;;) {
      const token = glob[at];
      this.#count(part, token?.kind === "set" ? 1 + token.ranges.length : 1);
      if (token?.kind === "star") {
        star = at;
        at += 1;
        resume = from;
      } else if (token === undefined && from === part.length) return true;
      else if (token !== undefined && from < part.length && accepts(token, part.charCodeAt(from))) {
        at += 1;
        from += 1;
      } else if (star >= 0 && resume < part.length) {
        resume += 1;
        at = star + 1;
        from = resume;
      } else return false;
    }
  }
}

/** Git matches bytes, so the text becomes one character for each byte of its UTF-8 form. */
function bytewise(text: string): string {
  return /^[\u0000-\u007f]*$/.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function relative(path: string, directory: string): string {
  return directory === "" ? path : path.slice(directory.length + 1);
}
