/** The pointer that Git LFS commits instead of a file's content. */

export interface LfsPointer {
  /** SHA-256 of the content, in hex. */
  oid: string;
  size: number;
}

/** Git LFS itself reads no larger file as a pointer. */
export const MAX_POINTER_BYTES = 1024;

const FIRST_LINE = "version https://git-lfs.github.com/spec/v1\n";

/** Null when the bytes are no pointer: then they are the content itself. */
export function parsePointer(content: Buffer): LfsPointer | null {
  if (content.length > MAX_POINTER_BYTES) return null;
  const text = content.toString("latin1");
  if (!text.startsWith(FIRST_LINE)) return null;
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return oid === undefined || size === undefined ? null : { oid, size: Number(size) };
}
