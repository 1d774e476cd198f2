/** A message between client and server: subject, reply, header block, payload. */

/** A header block in the client library's form. */
export class HeaderBlock {
  readonly code: number;
  readonly description: string;
  /** The size on the wire; 0: it did not come over the wire. */
  wireBytes = 0;
  private readonly fields: ReadonlyMap<string, string>;
  private readonly under: HeaderBlock | null;

  constructor(
    fields: ReadonlyMap<string, string>,
    code = 0,
    description = "",
    under: HeaderBlock | null = null,
  ) {
    this.fields = fields;
    this.code = code;
    this.description = description;
    this.under = under;
  }

  /** Case-sensitive, as the library's own; empty when it is not there. */
  get(name: string): string {
    return this.fields.get(name) ?? this.under?.get(name) ?? "";
  }

  has(name: string): boolean {
    return this.fields.has(name) || this.under?.has(name) === true;
  }

  keys(): string[] {
    return [...new Set([...(this.under?.keys() ?? []), ...this.fields.keys()])];
  }

  /** The same block with more fields on top. */
  with(fields: ReadonlyMap<string, string>): HeaderBlock {
    return new HeaderBlock(fields, this.code, this.description, this);
  }
}

const NONE: ReadonlyMap<string, string> = new Map();
export const noHeaders = new HeaderBlock(NONE);

export function statusBlock(code: number, description: string, fields = NONE): HeaderBlock {
  return new HeaderBlock(fields, code, description);
}

const VERSION = "NATS/1.0";

/** Parses a block in wire format: `NATS/1.0[ code text]`, then one `key: value` per line. */
export function readHeaders(bytes: Uint8Array): HeaderBlock {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const fields = new Map<string, string>();
  const first = text.indexOf("\r\n");
  for (let from = first + 2, to = text.indexOf("\r\n", from); to > from;) {
    const colon = text.indexOf(":", from);
    if (colon > from && colon < to) fields.set(text.slice(from, colon), text.slice(colon + 1, to).trim());
    from = to + 2;
    to = text.indexOf("\r\n", from);
  }
  const status = first === VERSION.length ? null : /^NATS\/1\.0 (\d+)\s*(.*)$/.exec(text.slice(0, first));
  const [, code = "", description = ""] = status ?? [];
  const block = new HeaderBlock(fields, code === "" ? 0 : Number(code), description);
  block.wireBytes = bytes.length;
  return block;
}

/** Bytes of a block on the wire, which count toward a stream's size. */
export function headerBytes(block: HeaderBlock): number {
  if (block.wireBytes > 0) return block.wireBytes;
  const keys = block.keys();
  if (keys.length === 0) return 0;
  return keys.reduce((sum, key) => sum + key.length + Buffer.byteLength(block.get(key)) + 4, 12);
}

export interface Frame {
  readonly subject: string;
  readonly reply: string | null;
  readonly headers: HeaderBlock;
  readonly data: Uint8Array;
}

export const emptyData = new Uint8Array();
