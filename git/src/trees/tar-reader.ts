/**
 * Reads an uncompressed tar of files, symbolic links and directories (tar.ts), within bounds and in memory only. Anything else
 * (hard links, devices, sparse files, odd paths, a duplicate path, a wrong checksum) is a TarFault. Directories are
 * skipped, except gitlinks.
 */
import { decodePath } from "../objects/git-path.ts";
import { sumOf, TAR_BLOCK, TarFault, type TarEntry, type TarLimits } from "./tar.ts";

const BLOCK = TAR_BLOCK;

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
