/** The interface between the follower of a check's command and the finders of reached files. */
import type { CheckTree } from "./check-tree.ts";
import type { RuleBook } from "./rule-book.ts";

/** Where something was found. */
export interface Place {
  /** Working directory. */
  readonly dir: string;
  /** How it was reached: the check's command, then each file or script on the way. */
  readonly trail: readonly string[];
  /** True for the check's own command, false for a command from a file of the repository. */
  readonly direct: boolean;
  /** The directory of code that a runner loads, if this was found in such code; "" for a file at the top. */
  readonly support?: string;
}

/**
 * How a file is reached. `run`: its code is executed. `named`: a command line names it. `config`: it configures a program
 * of the check. `input`: its content is compared with or read. `import`: a reached file mentions it.
 */
export type Use = "run" | "named" | "config" | "input" | "import" | "test";

export type Step =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly use: Use;
      readonly place: Place;
      readonly shell?: true;
    }
  | {
      readonly kind: "scripts";
      readonly path: string;
      readonly names: readonly string[];
      readonly place: Place;
    }
  | { readonly kind: "bin"; readonly path: string; readonly name: string; readonly place: Place }
  | { readonly kind: "rules"; readonly path: string; readonly book: RuleBook; readonly place: Place };

/** An import of a harness file, to find places that could shadow it. */
export interface Import {
  readonly from: string;
  readonly name: string;
  readonly language: "node" | "python" | "c";
  /** The imported file of the tree; null if it comes from the image. */
  readonly to: string | null;
}

/** Program text to be searched for mentioned files. */
export interface SourceAt {
  /** Its path; null for inline code. */
  readonly from: string | null;
  readonly language: "node" | "python" | "other";
  readonly place: Place;
}

/** Receives what the followers find. */
export interface Trace {
  readonly tree: CheckTree;
  /** A program that runs, by its base name. */
  program(name: string, place: Place): void;
  /** A reached file; `shell`: read it as shell text, whatever its name. */
  file(path: string, use: Use, place: Place, shell?: true): void;
  /** A command line that starts with a program. */
  start(words: readonly string[], place: Place): void;
  /** Shell text; `script` is the file that contains it. */
  shell(text: string, place: Place, script?: string | null): void;
  source(text: string, at: SourceAt): void;
  follow(step: Exclude<Step, { kind: "file" }>): void;
  import(found: Import): void;
  /** A directory of the tree that is searched for programs. */
  searched(dir: string): void;
  /** A glob of paths that are not in the base; a file there would decide the check. */
  missing(glob: string, why: string): void;
}
