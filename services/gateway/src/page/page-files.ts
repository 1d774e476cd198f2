/**
 * The files of the page (`web/`), read once at start. They are static and public: everything that they show is asked for
 * over the API, with the caller's own token.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Strong validator of `bytes`. */
  readonly etag: string;
}

/** By file name. Empty: this gateway has no page, for example because it runs from sources. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** The build puts `page/` beside its entry points; this module may be in a chunk below them. */
const BESIDE_THE_BUNDLE = ["./page/", "../page/"].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
);

/** Reads the page of `folder`, or of the build that this process runs from. */
export function readPage(folder: string | null): PageFiles {
  const place = [folder, ...BESIDE_THE_BUNDLE].find(
    (one) => one !== null && existsSync(join(one, "index.html")),
  );
  if (place === undefined || place === null) return new Map();
  return new Map(
    readdirSync(place).flatMap((name) => {
      const type = TYPES[extname(name)];
      return type === undefined ? [] : [[name, pageFile(readFileSync(join(place, name)), type)]];
    }),
  );
}

function pageFile(bytes: Buffer, type: string): PageFile {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url")}"`;
  return { type, bytes, gzipped: gzipSync(bytes), etag };
}
