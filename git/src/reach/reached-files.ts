/**
 * Finds the files of the base that a check reaches, each with the path by which it is reached. Pure: the listing, the
 * texts and the commands decide.
 *
 * Only the base is read, so a change cannot influence what protects the check from it. Steps, files and bytes are
 * bounded; at a bound the answer is marked incomplete, and the caller protects by name instead.
 */
import { literalGlob } from "../patch/glob.ts";
import { CheckTree, parentOf, type TreeListing } from "./check-tree.ts";
import { followConfig, isConfigText } from "./config-text.ts";
import { followBinary, followScripts } from "./package-scripts.ts";
import { startProgram } from "./program.ts";
import { followRules } from "./rules-step.ts";
import { followShell } from "./shell-place.ts";
import { followSource, isShell, languageOf } from "./source-text.ts";
import { followSetup } from "./setup-keys.ts";
import { configureRunner } from "./test-runners.ts";
import type { Import, Place, SourceAt, Step, Trace, Use } from "./trace.ts";
import { isHarness, isOfDevelopers, runsAsHarness } from "../protection/side.ts";

/** Reads files of the base. Missing files and files that are not text are left out. */
export type ReadTexts = (paths: readonly string[]) => Promise<ReadonlyMap<string, string>>;

interface ReachedFile {
  /** `harness`: it judges. `subject`: a source that the check's own command names. */
  readonly as: "harness" | "subject";
  /** For example "npm test -> package.json scripts.test -> scripts/check.js". */
  readonly why: string;
}

export interface Reached {
  readonly files: ReadonlyMap<string, ReachedFile>;
  readonly programs: ReadonlySet<string>;
  readonly imports: readonly Import[];
  /** Glob of paths that would decide if they were there -> the reason. */
  readonly missing: ReadonlyMap<string, string>;
  /** False if a bound was reached. */
  readonly complete: boolean;
}

const MAX_READS = 600;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_STEPS = 20_000;
const MAX_MISSING = 2000;
const MAX_NESTING = 40;
const MAX_TRAIL = 12;
const MAX_COMMAND = 120;

/** @param tests files that are tests by their name; a runner finds them without being told */
export async function reachedFiles(
  listing: TreeListing,
  read: ReadTexts,
  commands: readonly string[],
  tests: readonly string[] = [],
): Promise<Reached> {
  const tracer = new Tracer(new CheckTree(listing));
  for (const command of commands) {
    const trail = [command.length > MAX_COMMAND ? `${command.slice(0, MAX_COMMAND)}…` : command];
    followShell(command, { dir: "", trail, direct: true }, tracer);
  }
  await tracer.drain(read);
  // Tests come last, so that thousands of them do not crowd out the files of the command itself.
  const complete = tracer.complete;
  for (const path of tests) tracer.file(path, "test", { dir: "", trail: [], direct: false });
  await tracer.drain(read);
  const { files, programs, imports, missed } = tracer;
  for (const dir of tracer.directories)
    for (const program of programs) {
      const path = dir === "" ? program : `${dir}/${program}`;
      if (!tracer.tree.has(path))
        tracer.missing(literalGlob(path), `it would be started instead of ${program}`);
    }
  return { files, programs, imports, missing: missed, complete };
}

class Tracer implements Trace {
  readonly tree: CheckTree;
  readonly files = new Map<string, ReachedFile>();
  readonly programs = new Set<string>();
  readonly imports: Import[] = [];
  readonly directories = new Set<string>();
  readonly missed = new Map<string, string>();
  complete = true;
  readonly #texts = new Map<string, string | null>();
  readonly #queued = new Set<string>();
  #pending: Step[] = [];
  #steps = 0;
  #bytes = 0;
  #depth = 0;

  constructor(tree: CheckTree) {
    this.tree = tree;
  }

  program(name: string, place: Place): void {
    if (this.programs.has(name) || this.programs.size > MAX_STEPS) return;
    this.programs.add(name);
    configureRunner(name, place, this);
  }

  file(path: string, use: Use, place: Place, shell?: true): void {
    const side = sideIn(path, use, place, shell === true);
    if (side === null) return;
    const trail = place.trail.at(-1) === path ? place.trail : [...place.trail, path];
    const known = this.files.get(path);
    if (known === undefined || (known.as === "subject" && side === "harness"))
      this.files.set(path, { as: side, why: trail.slice(0, MAX_TRAIL).join(" -> ") });
    if (side === "subject") return;
    const { dir, support } = place;
    const inside = {
      dir,
      direct: false,
      trail: trail.slice(0, MAX_TRAIL),
      ...(use === "test" || support === undefined ? {} : { support }),
    };
    this.#add({ kind: "file", path, use, place: inside, ...(shell === true ? { shell } : {}) });
  }

  start(words: readonly string[], place: Place): void {
    this.#nested(() => startProgram(words, place, this));
  }

  shell(text: string, place: Place, script: string | null = null): void {
    this.#nested(() => followShell(text, place, this, script));
  }

  source(text: string, at: SourceAt): void {
    this.#nested(() => followSource(text, at, this));
  }

  /** Follows text inside text. The depth and the number of such texts are bounded. */
  #nested(body: () => void): void {
    this.#steps += 1;
    if (this.#depth >= MAX_NESTING || this.#steps > MAX_STEPS) {
      this.complete = false;
      return;
    }
    this.#depth += 1;
    body();
    this.#depth -= 1;
  }

  follow(step: Exclude<Step, { kind: "file" }>): void {
    if (step.kind !== "rules" && !this.files.has(step.path))
      this.files.set(step.path, { as: "harness", why: [...step.place.trail, step.path].join(" -> ") });
    this.#add(step);
  }

  import(found: Import): void {
    if (this.imports.length < MAX_STEPS) this.imports.push(found);
  }

  searched(dir: string): void {
    if (this.directories.size < MAX_NESTING) this.directories.add(dir);
  }

  missing(glob: string, why: string): void {
    if (this.missed.size < MAX_MISSING) this.missed.set(glob, why);
  }

  #add(step: Step): void {
    const key = step.kind === "rules" ? `rules ${step.path} ${this.#steps}` : keyOf(step);
    if (this.#queued.has(key)) return;
    this.#queued.add(key);
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) this.complete = false;
    else this.#pending.push(step);
  }

  /** Works in waves: the files of one wave are read together. */
  async drain(read: ReadTexts): Promise<void> {
    while (this.#pending.length > 0) {
      const wave = this.#pending;
      this.#pending = [];
      await this.#read(
        read,
        [...new Set(wave.map(({ path }) => path))].filter((path) => !this.#texts.has(path)),
      );
      for (const step of wave) this.#take(step, this.#texts.get(step.path) ?? null);
    }
  }

  async #read(read: ReadTexts, paths: readonly string[]): Promise<void> {
    const room = this.#bytes >= MAX_BYTES ? 0 : Math.max(0, MAX_READS - this.#texts.size);
    if (paths.length > room) this.complete = false;
    const texts = room === 0 ? new Map<string, string>() : await read(paths.slice(0, room));
    for (const path of paths) {
      const text = texts.get(path) ?? null;
      this.#texts.set(path, text);
      this.#bytes += text?.length ?? 0;
    }
  }

  #take(step: Step, text: string | null): void {
    const { path, place } = step;
    if (step.kind === "rules") return followRules(text, path, step.book, place, this);
    if (text === null) return;
    if (step.kind === "scripts") return followScripts(text, path, step.names, place, this);
    if (step.kind === "bin") return followBinary(text, step.name, place, this);
    if (step.shell === true || isShell(path, text)) return followShell(text, place, this, path);
    if (/(^|\/)(package\.json|[^/]*\.mk|(GNU)?[Mm]akefile|\.?justfile)$/.test(path)) return; // Followed by goal or script.
    if (step.kind === "file" && step.use === "config") followSetup(text, path, place, this);
    if (isConfigText(path)) followConfig(text, path, place, this);
    else followSource(text, { from: path, language: languageOf(path), place }, this);
  }
}

function keyOf(step: Exclude<Step, { kind: "rules" }>): string {
  const detail = step.kind === "scripts" ? step.names.join(" ") : step.kind === "bin" ? step.name : "";
  return `${step.kind} ${step.path} ${step.kind === "file" ? "" : step.place.dir} ${detail}`;
}

/**
 * Whether a reached file judges (harness), is judged by name (subject), or neither (null). Set-up files, loaded files and
 * files compared with always judge. A file that is run or mentioned judges if its name or place says test, tool or
 * configuration: a source that a test imports is the object of the test.
 */
function sideIn(path: string, use: Use, place: Place, shell: boolean): ReachedFile["as"] | null {
  if (use === "config" || use === "input" || use === "test") return "harness";
  if (use === "import") return isHarness(path) || isSupport(path, place) ? "harness" : null;
  if (runsAsHarness(path, shell)) return "harness";
  if (place.direct) return "subject";
  return isOfDevelopers(path) ? "harness" : null;
}

/** A file that loaded code mentions is a part of it if it stands beside it, or in a directory that only developers use. */
function isSupport(path: string, { support }: Place): boolean {
  if (support === undefined) return false;
  return support === "" ? isOfDevelopers(path) : parentOf(path) === support;
}
