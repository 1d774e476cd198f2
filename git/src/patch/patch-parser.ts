/**
 * A strict parser of git's unified diffs. It accepts only what `git diff` writes: no text between files, no timestamps,
 * no guessed names, no hunks with wrong counts. Everything that two parsers could read differently is refused, so that
 * `git apply` does exactly what was checked here (apply-patch.ts compares the two afterwards).
 *
 * The text is read as bytes (a latin1 string), so files in encodings other than UTF-8 work too.
 */
import { limits } from "@antiphon/contracts";
import { readBinaryPart } from "./binary-patch.ts";
import { isObjectId } from "../objects/git-object.ts";
import type { ChangeKind, FilePatch } from "./file-patch.ts";
import { PatchCursor } from "./patch-cursor.ts";
import { readHunks } from "./patch-hunks.ts";
import { agreedNames, readName, readSides, type Names } from "./patch-names.ts";
import { refuse } from "./patch-refusal.ts";

interface ParseBounds {
  maxBytes: number;
  maxFiles: number;
  /** Bound on all binary contents together. */
  maxBinaryBytes: number;
}

/** Of a patch that somebody proposes; the defaults. */
const PROPOSED: ParseBounds = {
  maxBytes: limits.patchBytes,
  maxFiles: limits.patchFiles,
  maxBinaryBytes: limits.sandboxFileBytes,
};

/** Bytes that binary parts may still produce. */
interface BinaryLeft {
  forward: number;
  reverse: number;
}

type Field = "oldMode" | "newMode" | "deletedMode" | "createdMode" | "similarity" | "from" | "to";

type Header = { [F in Field]?: string } & {
  copy?: boolean;
  index?: { mode: string | null; before: string; after: string };
};

const FIELDS: readonly (readonly [RegExp, Field])[] = [
  [/^old mode ([0-7]{6})$/, "oldMode"],
  [/^new mode ([0-7]{6})$/, "newMode"],
  [/^deleted file mode ([0-7]{6})$/, "deletedMode"],
  [/^new file mode ([0-7]{6})$/, "createdMode"],
  [/^(?:dis)?similarity index ([0-9]{1,3})%$/, "similarity"],
  [/^(?:rename|copy) from (.+)$/, "from"],
  [/^(?:rename|copy) to (.+)$/, "to"],
];

export function parsePatch(patch: string | Buffer, given: Partial<ParseBounds> = {}): FilePatch[] {
  const bounds = { ...PROPOSED, ...given };
  const bytes = typeof patch === "string" ? Buffer.from(patch, "utf8") : patch;
  if (bytes.length > bounds.maxBytes) {
    refuse("ANT_PATCH_TOO_LARGE", "size.bytes", `${bytes.length} bytes; the bound is ${bounds.maxBytes}`);
  }
  if (bytes.length === 0) return [];
  const lines = bytes.toString("latin1").split("\n");
  if (lines.pop() !== "") {
    refuse("ANT_PATCH_TRUNCATED", "text.no-final-newline", "the last line has no end", {
      line: lines.length + 1,
    });
  }
  const cursor = new PatchCursor(lines);
  const files: FilePatch[] = [];
  const left = { forward: bounds.maxBinaryBytes, reverse: bounds.maxBinaryBytes };
  while (!cursor.atEnd) {
    if (files.length >= bounds.maxFiles) {
      const line = cursor.at + 1;
      refuse("ANT_PATCH_TOO_LARGE", "size.files", `more than ${bounds.maxFiles} files`, { line });
    }
    const file = readFile(cursor, left);
    left.forward -= file.binaryBytes;
    left.reverse -= file.reverseBytes;
    files.push(file);
  }
  return files;
}

/** One file of a patch: `diff --git`, extended headers, then hunks, a binary part, or nothing. */
function readFile(cursor: PatchCursor, binaryLeft: BinaryLeft): FilePatch {
  const opening = cursor.line;
  cursor.first = cursor.at;
  cursor.path = null;
  if (!opening.startsWith("diff --git ")) {
    if (/^diff --(cc|combined) /.test(opening)) cursor.fail("MALFORMED", "text.combined", "a combined diff");
    cursor.fail("MALFORMED", "text.garbage", "expected a line that starts with `diff --git `");
  }
  cursor.at += 1;
  const header = readHeader(cursor);
  const sides = readSides(cursor);
  const { from, to } = header;
  if ((from === undefined) !== (to === undefined)) {
    cursor.failFile("HEADER", "header.rename", "a rename or copy with one side only");
  }
  const moved = from === undefined || to === undefined ? null : { old: from, new: to };
  const names = agreedNames(cursor, opening.slice("diff --git ".length), moved, sides);
  const file = describe(cursor, header, names);
  cursor.path = file.newPath ?? file.oldPath;
  if (cursor.line === "GIT binary patch") return readBinary(cursor, header, file, binaryLeft);
  if (/^Binary files .* differ$/.test(cursor.line)) {
    cursor.fail("BINARY", "binary.no-content", "a binary change without its content");
  }
  if (sides === null) checkBodiless(cursor, header, file);
  else {
    if (
      (sides.old === null) !== (file.change === "add") ||
      (sides.new === null) !== (file.change === "delete")
    ) {
      cursor.failFile("HEADER", "header.kind", "/dev/null and the header lines contradict each other");
    }
    readHunks(cursor, file);
  }
  return file;
}

function readHeader(cursor: PatchCursor): Header {
  const header: Header = {};
  for (; !cursor.atEnd; cursor.at += 1) {
    const index = /^index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?$/.exec(cursor.line);
    if (index === null) {
      if (!readHeaderLine(cursor, header)) break;
      continue;
    }
    if (header.index !== undefined) cursor.fail("HEADER", "header.repeated", "a header line is there twice");
    header.index = { mode: index[3] ?? null, before: index[1] ?? "", after: index[2] ?? "" };
  }
  return header;
}

/** Returns false when the line is not a header line. */
function readHeaderLine(cursor: PatchCursor, header: Header): boolean {
  for (const [form, field] of FIELDS) {
    const match = form.exec(cursor.line);
    if (match === null) continue;
    if (header[field] !== undefined) cursor.fail("HEADER", "header.repeated", "a header line is there twice");
    const value = match[1] ?? "";
    header[field] = field === "from" || field === "to" ? readName(cursor, value) : value;
    if (field !== "from" && field !== "to") return true;
    const copy = cursor.line.startsWith("copy ");
    if ((header.copy ?? copy) !== copy) cursor.fail("HEADER", "header.kind", "a copy and a rename at once");
    header.copy = copy;
    return true;
  }
  return false;
}

function describe(cursor: PatchCursor, header: Header, names: Names): FilePatch {
  const { oldMode, newMode, deletedMode, createdMode, index } = header;
  checkHeader(cursor, header);
  const change = changeOf(header);
  return {
    change,
    oldPath: change === "add" ? null : names.old,
    newPath: change === "delete" ? null : names.new,
    oldMode: change === "add" ? null : (oldMode ?? deletedMode ?? index?.mode ?? null),
    newMode: change === "delete" ? null : (newMode ?? createdMode ?? index?.mode ?? null),
    binary: false,
    added: 0,
    removed: 0,
    binaryBytes: 0,
    reverseBytes: 0,
    line: cursor.first + 1,
  };
}

function changeOf({ createdMode, deletedMode, from, copy }: Header): ChangeKind {
  if (createdMode !== undefined) return "add";
  if (deletedMode !== undefined) return "delete";
  if (from === undefined) return "modify";
  return copy === true ? "copy" : "rename";
}

function checkHeader(cursor: PatchCursor, header: Header): void {
  const { oldMode, newMode, deletedMode, createdMode, from, similarity, index } = header;
  const comesOrGoes = createdMode !== undefined || deletedMode !== undefined;
  if (from !== undefined && similarity === undefined) {
    cursor.failFile("HEADER", "header.rename", "a rename without a similarity index");
  }
  if ([deletedMode, createdMode, from].filter((field) => field !== undefined).length > 1) {
    cursor.failFile("HEADER", "header.kind", "added, deleted or renamed at once");
  }
  if ((oldMode === undefined) !== (newMode === undefined)) {
    cursor.failFile("HEADER", "header.mode", "one of `old mode` and `new mode` only");
  }
  if (oldMode !== undefined && (oldMode === newMode || comesOrGoes)) {
    cursor.failFile("HEADER", "header.mode", "a mode change that is none");
  }
  if ((oldMode !== undefined || comesOrGoes) && index !== undefined && index.mode !== null) {
    cursor.failFile("HEADER", "header.mode", "a mode in two places");
  }
}

function readBinary(cursor: PatchCursor, { index }: Header, file: FilePatch, left: BinaryLeft): FilePatch {
  if (index === undefined || !isObjectId(index.before) || !isObjectId(index.after)) {
    cursor.fail("BINARY", "binary.index", "a binary change needs a full `index` line");
  }
  const path = cursor.path ?? "";
  const forward = readBinaryPart(cursor.lines, cursor.at + 1, path, { maxBytes: left.forward });
  cursor.at = forward.next;
  // The reverse part, which git also writes. It is read and not used.
  const hasReverse = /^(literal|delta) /.test(cursor.line);
  const reverse = hasReverse
    ? readBinaryPart(cursor.lines, cursor.at, path, { maxBytes: left.reverse })
    : { next: cursor.at, bytes: 0 };
  cursor.at = reverse.next;
  return { ...file, binary: true, binaryBytes: forward.bytes, reverseBytes: reverse.bytes };
}

/** Without a body, only an empty file can be added or deleted, a mode can change, or a file can move unchanged. */
function checkBodiless(cursor: PatchCursor, { index, oldMode, similarity }: Header, file: FilePatch): void {
  const refused = (message: string): never => cursor.failFile("TRUNCATED", "section.empty", message);
  const { change } = file;
  if (change === "add" && !isEmptyBlob(index?.after ?? ""))
    refused("a file with content, without the content");
  if (change === "delete" && !isEmptyBlob(index?.before ?? ""))
    refused("a file with content, without the content");
  if (change === "modify" && oldMode === undefined) refused("a file without a change");
  if ((change === "rename" || change === "copy") && similarity !== "100") {
    refused("a rename with changes, without the changes");
  }
}

const EMPTY_BLOBS = [
  "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
  "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

function isEmptyBlob(id: string): boolean {
  return id.length >= 4 && EMPTY_BLOBS.some((blob) => blob.startsWith(id));
}
