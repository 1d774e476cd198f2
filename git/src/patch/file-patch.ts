export type ChangeKind = "add" | "delete" | "modify" | "rename" | "copy";

/** What a patch does to one file. */
export interface FilePatch {
  change: ChangeKind;
  /** Path before the change; null for an addition. */
  oldPath: string | null;
  /** Path after the change; null for a deletion. */
  newPath: string | null;
  /** The mode, if the patch has it: in an `index a..b mode` line or in mode lines. */
  oldMode: string | null;
  newMode: string | null;
  binary: boolean;
  added: number;
  removed: number;
  /** New size of a binary file. */
  binaryBytes: number;
  /** Size that the reverse part of a binary change makes. It is inflated too. */
  reverseBytes: number;
  /** Line of its `diff --git`, from 1. */
  line: number;
}
