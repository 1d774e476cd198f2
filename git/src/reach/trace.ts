/** What is followed on the way from a check's command to the files it reaches. */
import type { CheckTree } from "./check-tree.ts";
import type { RuleBook } from "./rule-book.ts";

/** Where in the way something was found. */
export interface Place {
  /** The directory it runs in. */
  readonly dir: string;
  /** How it was reached: the check's command, then each file or script on the way. */
  readonly trail: readonly string[];
  /** It is the check's own command, not something that a file of the repository says. */
  readonly direct: boolean;
}

/**
 * How a file is reached. `run`: its code is executed. `named`: it stands on a command line. `config`: it sets up what runs
 * the check. `input`: its content is compared with, or read as input. `import`: a file on the way mentions it.
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

/** An import of a harness file, for what could take its place. */
export interface Import {
  readonly from: string;
  readonly name: string;
  readonly language: "node" | "python";
  /** The file of the tree it means today; null: it comes from the image. */
  readonly to: string | null;
}

/** Text of a program, to be searched for what it mentions. */
export interface SourceAt {
  /** Its path; null for code on a command line. */
  readonly from: string | null;
  readonly language: "node" | "python" | "other";
  readonly place: Place;
}

/** What followers report to. */
export interface Trace {
  readonly tree: CheckTree;
  /** A program that runs, by its base name. */
  program(name: string, place: Place): void;
  /** A file of the tree; `shell`: it is read as shell text whatever its name. */
  file(path: string, use: Use, place: Place, shell?: true): void;
  /** A command line that starts with a program. */
  start(words: readonly string[], place: Place): void;
  /** Shell text; `script`: the file it is in. */
  shell(text: string, place: Place, script?: string | null): void;
  source(text: string, at: SourceAt): void;
  follow(step: Exclude<Step, { kind: "file" }>): void;
  import(found: Import): void;
}
