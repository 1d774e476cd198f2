import { AntiphonError } from "@antiphon/contracts";

/**
 * The standard layout of a NATS object store (ADR-20), which `nats object get` reads: one meta message per object, and
 * its bytes in chunk messages under a subject of their own.
 */
export const chunkBytes = 128 * 1024;

export interface ObjectMeta {
  name: string;
  nuid: string;
  size: number;
  chunks: number;
  /** `SHA-256=<base64url, padded>` */
  digest: string;
  deleted: boolean;
}

const token = /^[A-Za-z0-9_-]{1,64}$/;

export function metaSubject(bucket: string, name: string): string {
  const encoded = Buffer.from(name, "utf8").toString("base64").replaceAll("+", "-").replaceAll("/", "_");
  return `$O.${bucket}.M.${encoded}`;
}

export function chunkSubject(bucket: string, nuid: string): string {
  return `$O.${bucket}.C.${nuid}`;
}

export function metaDocument(bucket: string, meta: Omit<ObjectMeta, "deleted">, mtime: Date): string {
  return JSON.stringify({
    name: meta.name,
    options: { max_chunk_size: chunkBytes },
    bucket,
    nuid: meta.nuid,
    size: meta.size,
    mtime: mtime.toISOString(),
    chunks: meta.chunks,
    digest: meta.digest,
  });
}

/** Reads a meta message. Refuses a link, because it would let one bucket return another one's bytes. */
export function parseMeta(bucket: string, name: string, text: string): ObjectMeta {
  let raw: Record<string, unknown>;
  try {
    raw = JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new AntiphonError("ANT_BLOB_CORRUPT", `${bucket}/${name}: unreadable meta`, { cause: error });
  }
  const options = raw["options"] as { link?: unknown } | undefined;
  if (options?.link !== undefined && options.link !== null) {
    throw new AntiphonError("ANT_BLOB_MISSING", `${bucket}/${name} is a link; links are not followed`);
  }
  const deleted = raw["deleted"] === true;
  const { nuid, size, chunks, digest } = raw;
  if (deleted) return { name, nuid: "", size: 0, chunks: 0, digest: "", deleted };
  if (
    typeof nuid !== "string" ||
    !token.test(nuid) ||
    typeof size !== "number" ||
    typeof digest !== "string"
  ) {
    throw new AntiphonError("ANT_BLOB_CORRUPT", `${bucket}/${name}: meta without nuid, size or digest`);
  }
  return { name, nuid, size, chunks: typeof chunks === "number" ? chunks : 0, digest, deleted };
}

/** Converts `SHA-256=<base64url padded>` (the store's form) to `sha256-<base64url>` (ours). */
export function digestFromMeta(metaDigest: string): string {
  return `sha256-${metaDigest.replace(/^SHA-256=/, "").replace(/=+$/, "")}`;
}

export function digestToMeta(digest: string): string {
  const bare = digest.replace(/^sha256-/, "");
  return `SHA-256=${bare}${"=".repeat((4 - (bare.length % 4)) % 4)}`;
}
