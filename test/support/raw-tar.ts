/** Tar headers written field by field, so that a test can make any of them wrong. */

export interface RawEntry {
  readonly name: string | Buffer;
  /** Default "0", a regular file. */
  readonly type?: string;
  readonly content?: Buffer | string;
  /** Default 0644. */
  readonly mode?: number;
  readonly link?: string;
  readonly prefix?: string;
  /** Default "ustar\0" + "00". */
  readonly magic?: string;
  /** The size field as text, if it should differ from the content's size. */
  readonly size?: string | Buffer;
  /** The checksum field as text, if it should be wrong. */
  readonly checksum?: string;
}

const BLOCK = 512;

export function rawEntry(entry: RawEntry): Buffer {
  const content = Buffer.from(entry.content ?? "");
  const header = Buffer.alloc(BLOCK);
  Buffer.from(entry.name).copy(header, 0, 0, 100);
  header.write(`${(entry.mode ?? 0o644).toString(8).padStart(7, "0")}\0`, 100, "latin1");
  header.write("0000000\u00000000000\0", 108, "latin1");
  Buffer.from(entry.size ?? `${content.length.toString(8).padStart(11, "0")}\0`).copy(header, 124, 0, 12);
  header.write("00000000000\0", 136, "latin1");
  header.write(entry.type ?? "0", 156, "latin1");
  header.write(entry.link ?? "", 157, 100, "utf8");
  header.write(entry.magic ?? "ustar\u000000", 257, "latin1");
  header.write(entry.prefix ?? "", 345, 155, "utf8");
  header.write("        ", 148, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(entry.checksum ?? `${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

export const TAR_END = Buffer.alloc(2 * BLOCK);

export function rawTar(...entries: readonly (RawEntry | Buffer)[]): Buffer {
  return Buffer.concat([...entries.map((one) => (Buffer.isBuffer(one) ? one : rawEntry(one))), TAR_END]);
}

/** One pax record: its length counts itself. */
export function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (Buffer.byteLength(`${length}${rest}`) !== length) length += 1;
  return `${length}${rest}`;
}
