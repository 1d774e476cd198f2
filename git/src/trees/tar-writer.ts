/** Writes the canonical tar (tar.ts): all of it, or the parts around a content that is streamed. */
import { encodePath } from "../objects/git-path.ts";
import { FILE_TIME_S, hasTarget, sumOf, TAR_BLOCK, type TarEntry } from "./tar.ts";

const BLOCK = TAR_BLOCK;
const OWNER = 65_532;

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
