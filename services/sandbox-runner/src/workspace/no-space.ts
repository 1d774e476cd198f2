/**
 * A disk without space, as the one error that names the disk and the step that needed it. A tool says it once for each file,
 * so its output is no message for a person. Pure.
 */
import { AntiphonError } from "@antiphon/contracts";

/** Of ENOSPC and EDQUOT, as the C library words them for tools and for the engine. */
const NO_SPACE = /no space left on device|disk quota exceeded/i;

/** @param said what a tool or the engine printed */
export function saysNoSpace(said: string): boolean {
  return NO_SPACE.test(said);
}

/** Of a call of the file system in this process, or of the layer's fill. */
export function isNoSpace(error: unknown): boolean {
  if (error instanceof AntiphonError) return error.code === "ANT_SANDBOX_NO_SPACE";
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** @param why it is needed: "to lay out the environment" */
export function engineFull(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_NO_SPACE", `the container engine's disk has no space left ${why}`);
}

/** The first line of a tool's complaints, with the number of the others. */
export function firstLine(said: string): string {
  const lines = said.trim().split("\n");
  const more = lines.length - 1;
  return `${lines[0] ?? ""}${more === 0 ? "" : ` (and ${more} more ${more === 1 ? "line" : "lines"})`}`;
}
