/**
 * Keys of decoded maps, remembered: a contract's field names come again in every message.
 *
 * The package's own cache throws entries out by chance, which makes what a process does depend on what it decoded
 * before. This one is a table: a key has one place, and the last one there stays.
 */
interface Entry {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const PLACES = 1024;
/** Longer keys are rare and not remembered. */
const MAX_BYTES = 32;

export class KeyCache {
  private readonly places = new Array<Entry | undefined>(PLACES);

  canBeCached(byteLength: number): boolean {
    return byteLength > 0 && byteLength <= MAX_BYTES;
  }

  decode(bytes: Uint8Array, offset: number, byteLength: number): string {
    let hash = byteLength;
    for (let i = 0; i < byteLength; i += 1) hash = (Math.imul(hash, 31) + (bytes[offset + i] ?? 0)) | 0;
    const place = hash & (PLACES - 1);
    const known = this.places[place];
    if (known !== undefined && isSame(known.bytes, bytes, offset, byteLength)) return known.text;
    const own = bytes.slice(offset, offset + byteLength);
    const text = Buffer.from(own.buffer, own.byteOffset, own.length).toString("utf8");
    this.places[place] = { bytes: own, text };
    return text;
  }
}

function isSame(known: Uint8Array, bytes: Uint8Array, offset: number, byteLength: number): boolean {
  if (known.length !== byteLength) return false;
  for (let i = 0; i < byteLength; i += 1) if (known[i] !== bytes[offset + i]) return false;
  return true;
}
