/** A small repository with a bug, its check, and how the bug is mended. */

/** In a file, one text that occurs once, and what replaces it. */
export type Edit = readonly [path: string, old: string, instead: string];

export interface BrokenRepository {
  readonly name: string;
  /** What a person reports. */
  readonly goal: string;
  readonly files: Readonly<Record<string, string>>;
  /** Fails before the bug is mended, and passes afterwards. */
  readonly check: string;
  readonly fix: Edit;
  /** A mend that was tried first and is none. */
  readonly wrong?: Edit;
  /** A command that makes a file of the repository anew. The run is granted the file, which its check may read. */
  readonly also?: { readonly command: string; readonly writes: string };
}

export interface Language {
  readonly language: string;
  readonly repositories: readonly BrokenRepository[];
}
