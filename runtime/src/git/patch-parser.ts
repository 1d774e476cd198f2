/**
 * A strict reader of git's unified diffs. It reads what `git diff` writes and nothing else: no text between
 * files, no timestamps, no guessed names, no hunks whose counts do not add up. Whatever two readers could
 * understand differently is refused, so that what is checked here is what `git apply` does (and apply-patch.ts
 * compares the two afterwards).
 *
 * The text is read as bytes (a latin1 string), so a file in another encoding than UTF-8 is no problem.
 */
import { readBinaryPart } from "./binary-patch.ts";
import { isObjectId } from "./git-object.ts";
import { decodePath, unquotePath } from "./git-path.ts";
import { refuse } from "./patch-refusal.ts";

export type ChangeKind = "add" | "delete" | "modify" | "rename" | "copy";

export interface FilePatch {
  change: ChangeKind;
  /** Where it is before; null for an addition. */
  oldPath: string | null;
  /** Where it is afterwards; null for a deletion. */
  newPath: string | null;
  /** As far as the patch says so: an `index a..b mode` line, or mode lines. */
  oldMode: string | null;
  newMode: string | null;
  binary: boolean;
  added: number;
  removed: number;
  /** Of a binary file: its new size. */
  binaryBytes: number;
  /** Line of its `diff --git`, from 1. */
  line: number;
}

export interface ParseBounds {
  maxBytes: number;
  maxFiles: number;
  /** Of all binary contents together. */
  maxBinaryBytes: number;
}

interface Header {
  oldMode?: string;
  newMode?: string;
  deletedMode?: string;
  createdMode?: string;
  from?: string;
  to?: string;
  copy?: boolean;
  similarity?: string;
  index?: { mode: string | null; before: string; after: string };
}

const EXTENDED: readonly [RegExp, (header: Header, value: string, path: (name: string) => string) => void][] =
  [
    [/^old mode ([0-7]{6})$/, (header, value) => (header.oldMode = once(header.oldMode, value))],
    [/^new mode ([0-7]{6})$/, (header, value) => (header.newMode = once(header.newMode, value))],
    [
      /^deleted file mode ([0-7]{6})$/,
      (header, value) => (header.deletedMode = once(header.deletedMode, value)),
    ],
    [/^new file mode ([0-7]{6})$/, (header, value) => (header.createdMode = once(header.createdMode, value))],
    [
      /^(?:dis)?similarity index ([0-9]{1,3})%$/,
      (header, value) => (header.similarity = once(header.similarity, value)),
    ],
    [/^(?:rename|copy) from (.+)$/, (header, value, path) => (header.from = once(header.from, path(value)))],
    [/^(?:rename|copy) to (.+)$/, (header, value, path) => (header.to = once(header.to, path(value)))],
  ];

class Repeated extends Error {}

function once(present: string | undefined, value: string): string {
  if (present !== undefined) throw new Repeated();
  return value;
}

export function parsePatch(patch: string | Buffer, bounds: ParseBounds): FilePatch[] {
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
  const files: FilePatch[] = [];
  let binaryBytes = 0;
  for (let at = 0; at < lines.length;) {
    if (files.length >= bounds.maxFiles) {
      refuse("ANT_PATCH_TOO_LARGE", "size.files", `more than ${bounds.maxFiles} files`, { line: at + 1 });
    }
    const section = new Section(lines, at, bounds.maxBinaryBytes - binaryBytes);
    const file = section.read();
    binaryBytes += file.binaryBytes;
    files.push(file);
    at = section.at;
  }
  return files;
}

/** One file of a patch: `diff --git`, extended headers, then hunks or a binary part or nothing. */
class Section {
  at: number;
  readonly #lines: readonly string[];
  readonly #first: number;
  readonly #binaryLeft: number;
  readonly #header: Header = {};
  #path: string | null = null;

  constructor(lines: readonly string[], at: number, binaryLeft: number) {
    this.#lines = lines;
    this.#first = at;
    this.#binaryLeft = binaryLeft;
    this.at = at;
  }

  read(): FilePatch {
    const opening = this.#line();
    if (!opening.startsWith("diff --git ")) {
      if (/^(diff --(cc|combined) )/.test(opening))
        this.#fail("MALFORMED", "text.combined", "a combined diff");
      this.#fail("MALFORMED", "text.garbage", "expected a line that starts with `diff --git `");
    }
    this.at += 1;
    this.#extended();
    const body = this.#names();
    const names = this.#resolve(opening.slice("diff --git ".length), body);
    const file = this.#describe(names);
    this.#path = file.newPath ?? file.oldPath;
    if (this.#line() === "GIT binary patch") return this.#binary(file);
    if (/^Binary files .* differ$/.test(this.#line())) {
      this.#fail("BINARY", "binary.no-content", "a binary change without its content");
    }
    if (body === null) this.#withoutBody(file);
    else {
      if (
        (body.old === null) !== (file.change === "add") ||
        (body.new === null) !== (file.change === "delete")
      ) {
        this.#fail(
          "HEADER",
          "header.kind",
          "/dev/null and the header lines contradict each other",
          file.line,
        );
      }
      this.#hunks(file);
    }
    return file;
  }

  #line(): string {
    return this.#lines[this.at] ?? "";
  }

  #fail(code: Short, rule: string, message: string, line = this.at + 1): never {
    return refuse(`ANT_PATCH_${code}`, rule, message, { path: this.#path, line });
  }

  #extended(): void {
    for (; this.at < this.#lines.length; this.at += 1) {
      const line = this.#line();
      const index = /^index ([0-9a-f]{4,64})\.\.([0-9a-f]{4,64})(?: ([0-7]{6}))?$/.exec(line);
      if (index !== null) {
        if (this.#header.index !== undefined)
          this.#fail("HEADER", "header.repeated", "a header line is there twice");
        this.#header.index = { mode: index[3] ?? null, before: index[1] ?? "", after: index[2] ?? "" };
        continue;
      }
      if (!this.#extendedLine(line)) return;
    }
  }

  #extendedLine(line: string): boolean {
    for (const [form, set] of EXTENDED) {
      const match = form.exec(line);
      if (match === null) continue;
      if (/^(copy|rename) /.test(line)) {
        const copy = line.startsWith("copy ");
        if ((this.#header.copy ?? copy) !== copy)
          this.#fail("HEADER", "header.kind", "a copy and a rename at once");
        this.#header.copy = copy;
      }
      try {
        set(this.#header, match[1] ?? "", (name) => this.#name(name));
      } catch (thrown) {
        if (thrown instanceof Repeated)
          this.#fail("HEADER", "header.repeated", "a header line is there twice");
        throw thrown;
      }
      return true;
    }
    return false;
  }

  /** A whole name: C-quoted, or plain without anything that would have needed quotes. */
  #name(text: string): string {
    if (text.startsWith('"')) {
      const unquoted = unquoteBytes(text);
      if (unquoted === null || unquoted.rest !== "")
        this.#fail("MALFORMED", "name.quoting", "a misquoted name");
      return unquoted.path;
    }
    if (/["\\\x00-\x1f\x7f]/.test(text))
      this.#fail("MALFORMED", "name.quoting", "a name that should be quoted");
    return decodePath(Buffer.from(text, "latin1"));
  }

  /** The `---` and `+++` lines; null when the section has none. */
  #names(): { old: string | null; new: string | null } | null {
    if (!this.#line().startsWith("--- ")) return null;
    const old = this.#sideName("--- ", "a/");
    this.at += 1;
    if (!this.#line().startsWith("+++ ")) this.#fail("HEADER", "header.no-plus", "`---` without `+++`");
    const next = this.#sideName("+++ ", "b/");
    this.at += 1;
    if (old === null && next === null) this.#fail("HEADER", "header.null", "/dev/null on both sides");
    return { old, new: next };
  }

  #sideName(marker: string, prefix: string): string | null {
    let text = this.#line().slice(marker.length);
    // Git ends a name that has a space in it with a tab, so that a timestamp cannot be read into it.
    if (text.endsWith("\t")) text = text.slice(0, -1);
    if (text === "/dev/null") return null;
    const name = this.#name(text);
    if (!name.startsWith(prefix))
      this.#fail("HEADER", "header.prefix", `a name that does not start with ${prefix}`);
    return name.slice(prefix.length);
  }

  /** Brings the three places that name a file together, or refuses. */
  #resolve(
    opening: string,
    body: { old: string | null; new: string | null } | null,
  ): { old: string; new: string } {
    const header = this.#header;
    const stated = this.#opening(opening);
    if ((header.from === undefined) !== (header.to === undefined)) {
      this.#fail("HEADER", "header.rename", "a rename or copy with one side only", this.#first + 1);
    }
    const claims = [
      stated,
      header.from === undefined || header.to === undefined ? null : { old: header.from, new: header.to },
      body === null ? null : { old: body.old ?? body.new ?? "", new: body.new ?? body.old ?? "" },
    ].filter((claim) => claim !== null);
    const [first] = claims;
    if (first === undefined) {
      return this.#fail("HEADER", "header.names", "no line says which file it is", this.#first + 1);
    }
    if (claims.some((claim) => claim.old !== first.old || claim.new !== first.new)) {
      this.#fail("HEADER", "header.mismatch", "its lines name different files", this.#first + 1);
    }
    // Two plain names with spaces cannot be told apart by themselves; the line must be what git would write.
    if (stated === null && opening !== `a/${latin(first.old)} b/${latin(first.new)}`) {
      this.#fail("HEADER", "header.mismatch", "its lines name different files", this.#first + 1);
    }
    if (header.from === undefined && first.old !== first.new) {
      this.#fail("HEADER", "header.silent-rename", "two names without a rename", this.#first + 1);
    }
    return first;
  }

  /** The names on the `diff --git` line; null when they are plain and differ, so that only the others can tell. */
  #opening(text: string): { old: string; new: string } | null {
    const strip = (name: string, prefix: string): string => {
      if (name.startsWith(prefix)) return name.slice(prefix.length);
      return this.#fail(
        "HEADER",
        "header.prefix",
        `a name that does not start with ${prefix}`,
        this.#first + 1,
      );
    };
    if (text.startsWith('"')) {
      const left = unquoteBytes(text);
      if (left === null || !left.rest.startsWith(" "))
        this.#fail("MALFORMED", "name.quoting", "a misquoted name");
      return { old: strip(left.path, "a/"), new: strip(this.#name(left.rest.slice(1)), "b/") };
    }
    if (text.endsWith('"')) {
      const gap = text.indexOf(' "');
      if (gap === -1) this.#fail("MALFORMED", "name.quoting", "a misquoted name");
      return {
        old: strip(this.#name(text.slice(0, gap)), "a/"),
        new: strip(this.#name(text.slice(gap + 1)), "b/"),
      };
    }
    const half = (text.length - 1) / 2;
    const name = this.#name(text);
    if (!name.startsWith("a/")) this.#fail("HEADER", "header.prefix", "a name that does not start with a/");
    if (!Number.isInteger(half) || text[half] !== " ") return null;
    const left = text.slice(0, half);
    const right = text.slice(half + 1);
    if (left.slice(2) !== right.slice(2) || !right.startsWith("b/")) return null;
    const path = strip(this.#name(left), "a/");
    return { old: path, new: path };
  }

  #describe(names: { old: string; new: string }): FilePatch {
    const { oldMode, newMode, deletedMode, createdMode, from, copy, index } = this.#header;
    if (from !== undefined && this.#header.similarity === undefined) {
      this.#fail("HEADER", "header.rename", "a rename without a similarity index", this.#first + 1);
    }
    const kinds = [deletedMode !== undefined, createdMode !== undefined, from !== undefined].filter(
      Boolean,
    ).length;
    if (kinds > 1) this.#fail("HEADER", "header.kind", "added, deleted or renamed at once", this.#first + 1);
    if ((oldMode === undefined) !== (newMode === undefined)) {
      this.#fail("HEADER", "header.mode", "one of `old mode` and `new mode` only", this.#first + 1);
    }
    if (
      oldMode !== undefined &&
      (oldMode === newMode || createdMode !== undefined || deletedMode !== undefined)
    ) {
      this.#fail("HEADER", "header.mode", "a mode change that is none", this.#first + 1);
    }
    if (oldMode !== undefined && index?.mode !== undefined && index.mode !== null) {
      this.#fail("HEADER", "header.mode", "a mode in two places", this.#first + 1);
    }
    const change =
      createdMode !== undefined
        ? "add"
        : deletedMode !== undefined
          ? "delete"
          : from === undefined
            ? "modify"
            : copy === true
              ? "copy"
              : "rename";
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
      line: this.#first + 1,
    };
  }

  #binary(file: FilePatch): FilePatch {
    const { index } = this.#header;
    if (index === undefined || !isObjectId(index.before) || !isObjectId(index.after)) {
      this.#fail("BINARY", "binary.index", "a binary change needs a full `index` line");
    }
    this.at += 1;
    const path = file.newPath ?? file.oldPath ?? "";
    const forward = readBinaryPart(this.#lines, this.at, path, { maxBytes: this.#binaryLeft });
    this.at = forward.next;
    if (/^(literal|delta) /.test(this.#line())) {
      this.at = readBinaryPart(this.#lines, this.at, path, { maxBytes: this.#binaryLeft }).next;
    }
    return { ...file, binary: true, binaryBytes: forward.bytes };
  }

  #hunks(file: FilePatch): void {
    let oldEnd = 0;
    let newEnd = 0;
    let count = 0;
    for (; this.#line().startsWith("@@ "); count += 1) {
      const head = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?$/s.exec(this.#line());
      if (head === null) this.#fail("MALFORMED", "hunk.header", "a hunk header that is none");
      const [oldStart, newStart] = [Number(head[1]), Number(head[3])];
      const [oldCount, newCount] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
      const inOrder =
        oldStart + (oldCount === 0 ? 1 : 0) > oldEnd && newStart + (newCount === 0 ? 1 : 0) > newEnd;
      if (!inOrder) this.#fail("MALFORMED", "hunk.order", "hunks overlap or are out of order");
      if ((oldStart === 0) !== (oldCount === 0 && oldStart === 0) || (newStart === 0 && newCount !== 0)) {
        this.#fail("MALFORMED", "hunk.header", "line 0 of a file that has lines");
      }
      oldEnd = oldCount === 0 ? oldStart : oldStart + oldCount - 1;
      newEnd = newCount === 0 ? newStart : newStart + newCount - 1;
      this.#hunk(file, oldCount, newCount);
    }
    if (count === 0) this.#fail("TRUNCATED", "hunk.none", "`---` and `+++` without a hunk");
    if (count > 1 && (file.change === "add" || file.change === "delete")) {
      this.#fail("MALFORMED", "hunk.order", "a new or deleted file in more than one hunk", file.line);
    }
    if (file.change === "add" && (file.removed > 0 || oldEnd !== 0)) {
      this.#fail("HEADER", "header.kind", "a new file with old lines", file.line);
    }
    if (file.change === "delete" && (file.added > 0 || newEnd !== 0)) {
      this.#fail("HEADER", "header.kind", "a deleted file with new lines", file.line);
    }
  }

  #hunk(file: FilePatch, oldCount: number, newCount: number): void {
    const start = this.at;
    let [oldLeft, newLeft, changes] = [oldCount, newCount, 0];
    let last = "";
    this.at += 1;
    while (oldLeft > 0 || newLeft > 0) {
      const line = this.#lines[this.at];
      const sign = line?.[0] ?? "";
      if (sign === "\\") {
        this.#noNewline(last, oldLeft, newLeft);
        last = "\\";
        continue;
      }
      if (line === undefined || !(sign === " " || sign === "+" || sign === "-")) {
        this.#fail("TRUNCATED", "hunk.short", "fewer lines than the hunk header says", start + 1);
      }
      if (sign !== "+") oldLeft -= 1;
      if (sign !== "-") newLeft -= 1;
      if (sign === "+") file.added += 1;
      if (sign === "-") file.removed += 1;
      if (sign !== " ") changes += 1;
      if (oldLeft < 0 || newLeft < 0) {
        this.#fail("TRUNCATED", "hunk.counts", "other lines than the hunk header says", start + 1);
      }
      last = sign;
      this.at += 1;
    }
    if (this.#line().startsWith("\\")) this.#noNewline(last, oldLeft, newLeft);
    if (/^[ +\\]/.test(this.#line()) || (this.#line().startsWith("-") && !this.#line().startsWith("--- "))) {
      this.#fail("TRUNCATED", "hunk.long", "more lines than the hunk header says", this.at + 1);
    }
    if (changes === 0) this.#fail("MALFORMED", "hunk.empty", "a hunk that changes nothing", start + 1);
  }

  /** `\ No newline at end of file` ends the side of the line before it: nothing may follow on that side. */
  #noNewline(last: string, oldLeft: number, newLeft: number): void {
    const ended =
      (last === "-" && oldLeft === 0) ||
      (last === "+" && newLeft === 0) ||
      (last === " " && oldLeft + newLeft === 0);
    if (this.#line() !== "\\ No newline at end of file" || !ended) {
      this.#fail("MALFORMED", "hunk.no-newline", "a misplaced `\\` line");
    }
    this.at += 1;
  }

  /** Without a body only an empty file can come or go, a mode change, or a file that moves as it is. */
  #withoutBody(file: FilePatch): void {
    const moved = file.change === "rename" || file.change === "copy";
    const { index } = this.#header;
    const content =
      file.change === "add" ? (index?.after ?? "") : file.change === "delete" ? (index?.before ?? "") : null;
    if (content !== null && !isEmptyBlob(content)) {
      this.#fail("TRUNCATED", "section.empty", "a file with content, without the content", file.line);
    }
    if (file.change === "modify" && this.#header.oldMode === undefined) {
      this.#fail("TRUNCATED", "section.empty", "a file without a change", file.line);
    }
    if (moved && this.#header.similarity !== "100") {
      this.#fail("TRUNCATED", "section.empty", "a rename with changes, without the changes", file.line);
    }
  }
}

type Short = "MALFORMED" | "HEADER" | "BINARY" | "TRUNCATED";

/** The text is bytes; `unquotePath` reads characters. Only ASCII may stand beside the escapes. */
function unquoteBytes(text: string): { path: string; rest: string } | null {
  const raw = unquotePath(text);
  if (raw === null) return null;
  // Bytes beyond ASCII inside the quotes came in as latin1 characters; put them back together as UTF-8.
  if (!/[\x80-\xff]/.test(text.slice(0, text.length - raw.rest.length))) return raw;
  return null;
}

const EMPTY_BLOBS = [
  "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
  "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

function isEmptyBlob(id: string): boolean {
  return id.length >= 4 && EMPTY_BLOBS.some((blob) => blob.startsWith(id));
}

function latin(path: string): string {
  return Buffer.from(path, "utf8").toString("latin1");
}
