/**
 * The canonical tar of a tree: ustar, uncompressed, entries in git's order, one owner, one time. The same tree gives the
 * same bytes everywhere. Names or link targets too long for a ustar header get a pax record.
 *
 * A gitlink (submodule) is written as an empty directory, like in a checkout, with `gitlink:<id>` as its link name.
 * Extractors ignore that field of a directory, and the tree can be rebuilt from it.
 */
import { AntiphonError } from "@antiphon/contracts";
import { decodePath, encodePath } from "../objects/git-path.ts";

export const TAR_BLOCK = 512;
const BLOCK = TAR_BLOCK;
const OWNER = 65_532;

/**
 * The time of every file, in seconds: 2000-01-01. It is not zero because zip archives, and so Python's wheels, cannot
 * hold a time before 1980.
 */
export const FILE_TIME_S = 946_684_800;

export interface TarEntry {
  path: string;
  /**
   * Git's octal text: 100644, 100755, 120000 (content is the target), 160000 (content is the commit id); for archives
   * that are no tree also 100444 and 40000 (a directory).
   */
  mode: string;
  content: Buffer;
  /** Modification time in seconds; default FILE_TIME_S. */
  timeS?: number;
}

export interface TarLimits {
  maxFiles: number;
  maxBytes: number;
}

/** A fault of an archive. Archives come out of sandboxes, unless the caller knows better. */
export class TarFault extends AntiphonError {
  constructor(detail: string) {
    super("ANT_SANDBOX_OUTPUT", detail);
  }
}

/** What the tar ends with. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

export function writeTar(entries: Iterable<TarEntry>): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    const { content } = entry;
    if (hasTarget(entry.mode)) parts.push(...tarHead(entry, content, 0));
    else parts.push(...tarHead(entry, null, content.length), content, tarPadding(content.length));
  }
  parts.push(TAR_END);
  return Buffer.concat(parts);
}

/** The content of a link or a gitlink is in its header. */
export function hasTarget(mode: string): boolean {
  return mode === "120000" || mode === "160000";
}

/** What comes before the content of an entry. `content`: that of a link or a gitlink, otherwise null. */
export function tarHead(entry: Omit<TarEntry, "content">, content: Buffer | null, size: number): Buffer[] {
  const parts: Buffer[] = [];
  const link = entry.mode === "120000";
  const gitlink = entry.mode === "160000";
  const target = gitlink ? Buffer.from(`gitlink:${content?.toString("latin1") ?? ""}`) : content;
  const directory = gitlink || entry.mode === "40000";
  let path = encodePath(entry.path);
  if (directory) path = Buffer.concat([path, Buffer.from("/")]);
  const place = splitName(path);
  const records: Buffer[] = [];
  if (place === null) records.push(paxRecord("path", path));
  if (target !== null && target.length > 100) records.push(paxRecord("linkpath", target));
  if (records.length > 0) {
    const body = Buffer.concat(records);
    const long = { name: Buffer.from("././@PaxHeader"), prefix: null };
    parts.push(header(long, 0o644, body.length, "x", null), body, tarPadding(body.length));
  }
  const type = link ? "2" : directory ? "5" : "0";
  const permissions = link ? 0o777 : directory ? 0o755 : Number.parseInt(entry.mode, 8) & 0o777;
  const short = place ?? { name: path.subarray(0, 100), prefix: null };
  parts.push(header(short, permissions, size, type, target, entry.timeS));
  return parts;
}

type Place = { name: Buffer; prefix: Buffer | null };

/** ustar holds 100 bytes of name and 155 of prefix, split at a slash. */
function splitName(path: Buffer): Place | null {
  if (path.length <= 100) return { name: path, prefix: null };
  for (
    let slash = path.indexOf(47, path.length - 101);
    slash > 0 && slash <= 155;
    slash = path.indexOf(47, slash + 1)
  ) {
    if (slash < path.length - 1) return { name: path.subarray(slash + 1), prefix: path.subarray(0, slash) };
  }
  return null;
}

function paxRecord(key: string, value: Buffer): Buffer {
  const fixed = key.length + value.length + 3;
  let length = fixed + String(fixed).length;
  if (String(length).length !== String(fixed).length) length = fixed + String(length).length;
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.from("\n")]);
}

const ZEROS = Buffer.alloc(BLOCK);

/** What comes after a content. */
export function tarPadding(size: number): Buffer {
  const over = size % BLOCK;
  return ZEROS.subarray(0, over === 0 ? 0 : BLOCK - over);
}

/** The fields that all headers we write share. */
const TEMPLATE = ((): Buffer => {
  const block = Buffer.alloc(BLOCK);
  octal(block, 108, 8, OWNER);
  octal(block, 116, 8, OWNER);
  octal(block, 136, 12, FILE_TIME_S);
  block.fill(0x20, 148, 156);
  block.write("ustar\x0000", 257, "latin1");
  octal(block, 329, 8, 0);
  octal(block, 337, 8, 0);
  return block;
})();

function header(
  place: Place,
  mode: number,
  size: number,
  type: string,
  link: Buffer | null,
  timeS = FILE_TIME_S,
): Buffer {
  const block = Buffer.from(TEMPLATE);
  place.name.copy(block, 0);
  octal(block, 100, 8, mode);
  octal(block, 124, 12, size);
  if (timeS !== FILE_TIME_S) octal(block, 136, 12, timeS);
  block.write(type, 156, "latin1");
  link?.copy(block, 157, 0, 100);
  place.prefix?.copy(block, 345);
  block.write(`${sumOf(block).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

function octal(block: Buffer, at: number, width: number, value: number): void {
  block.write(value.toString(8).padStart(width - 1, "0"), at, "latin1");
}

/**
 * Reads an uncompressed tar of files, symbolic links and directories, within bounds and in memory only. Anything else
 * (hard links, devices, sparse files, odd paths, a duplicate path, a wrong checksum) is a TarFault. Directories are
 * skipped, except gitlinks.
 */
export function readTar(tar: Buffer, limits: TarLimits): TarEntry[] {
  const entries: TarEntry[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let pax: ReadonlyMap<string, Buffer> = new Map();
  for (let at = 0; ;) {
    if (at + BLOCK > tar.length) throw new TarFault("the archive has no end");
    const head = readHead(tar.subarray(at, at + BLOCK));
    if (head === null) return entries;
    const { size, type } = head;
    const start = at + BLOCK;
    if (start + size > tar.length) throw new TarFault("an entry is longer than the archive");
    const content = tar.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "x") {
      pax = paxRecords(content);
      continue;
    }
    const found = readEntry(head, pax);
    pax = new Map();
    if (found === null) continue;
    const entry = { ...found, content: found.content ?? content };
    if (seen.has(entry.path)) throw new TarFault(`${entry.path} is there twice`);
    seen.add(entry.path);
    bytes += entry.content.length;
    if (seen.size > limits.maxFiles) throw new TarFault(`more than ${limits.maxFiles} files`);
    if (bytes > limits.maxBytes) throw new TarFault(`more than ${limits.maxBytes} bytes`);
    entries.push(entry);
  }
}

interface TarHead {
  readonly block: Buffer;
  /** The letter of a kind of entry. */
  readonly type: string;
  readonly size: number;
}

/** Null: the block is the end of the archive. */
export function readHead(block: Buffer): TarHead | null {
  if (block[0] === 0 && sumOf(block) === 0) return null;
  checkSum(block);
  return { block, type: String.fromCharCode(block[156] ?? 0), size: number(block, 124, 12) };
}

/** An entry by its header. Its content is null if it comes after it. Null: a directory, which is skipped. */
export function readEntry(
  { block, type, size }: TarHead,
  pax: ReadonlyMap<string, Buffer>,
): (Omit<TarEntry, "content"> & { content: Buffer | null }) | null {
  const prefix = text(block, 345, 155);
  const name = text(block, 0, 100);
  const whole =
    pax.get("path") ?? (prefix.length > 0 ? Buffer.concat([prefix, Buffer.from("/"), name]) : name);
  const path = plainPath(decodePath(whole), type === "5");
  const link = pax.get("linkpath") ?? text(block, 157, 100);
  if (type === "0" || type === "\0") {
    const mode = number(block, 100, 8);
    // Git keeps one permission bit; very old trees have 664.
    return { path, mode: mode & 0o111 ? "100755" : mode === 0o664 ? "100664" : "100644", content: null };
  }
  if (size > 0) throw new TarFault(`${path}: content where there can be none`);
  if (type === "2") return { path, mode: "120000", content: link };
  if (type === "5") {
    const gitlink = /^gitlink:([0-9a-f]{40,64})$/.exec(link.toString("latin1"));
    return gitlink === null ? null : { path, mode: "160000", content: Buffer.from(gitlink[1] ?? "") };
  }
  throw new TarFault(`${path}: entries of type ${JSON.stringify(type)} are not allowed`);
}

function plainPath(path: string, directory: boolean): string {
  let plain = path.startsWith("./") ? path.slice(2) : path;
  if (directory && plain.endsWith("/")) plain = plain.slice(0, -1);
  if (directory && (plain === "" || plain === ".")) return ".";
  const parts = plain.split("/");
  if (plain.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new TarFault(`not a plain relative path: ${JSON.stringify(path.slice(0, 200))}`);
  }
  return plain;
}

function text(block: Buffer, at: number, width: number): Buffer {
  const field = block.subarray(at, at + width);
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

function number(block: Buffer, at: number, width: number): number {
  const digits = text(block, at, width).toString("latin1").trim();
  if (!/^[0-7]*$/.test(digits)) throw new TarFault("a number in a header is not octal");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

function checkSum(block: Buffer): void {
  let field = 0;
  for (let at = 148; at < 156; at += 1) field += (block[at] as number) - 0x20;
  if (sumOf(block) - field !== number(block, 148, 8)) {
    throw new TarFault("a header does not match its checksum");
  }
}

/** Uses an index loop because it covers every byte of every header, and an iterator takes five times as long. */
function sumOf(block: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at += 1) sum += block[at] as number;
  return sum;
}

export function paxRecords(body: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at);
    const length = space === -1 ? Number.NaN : Number(body.toString("latin1", at, space));
    const equals = body.indexOf(0x3d, at);
    const end = at + length;
    if (
      !Number.isInteger(length) ||
      equals === -1 ||
      equals > end ||
      end > body.length ||
      body[end - 1] !== 10
    ) {
      throw new TarFault("a pax record is malformed");
    }
    records.set(body.toString("utf8", space + 1, equals), body.subarray(equals + 1, end - 1));
    at = end;
  }
  // A size or a sparse map in a pax record would change where the next header is. We never write one.
  for (const key of records.keys()) {
    if (key === "size" || key.startsWith("GNU.sparse"))
      throw new TarFault(`pax record ${key} is not allowed`);
  }
  return records;
}
