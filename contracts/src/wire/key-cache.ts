/**
 * Caches the keys of decoded maps, because every message repeats the field names of its contract.
 *
 * The package's own cache evicts entries at random, so its behaviour depends on earlier messages. This one is a table: a
 * key has one slot, and the last key in a slot stays.
 */
interface Entry {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const PLACES = 1024;
/** Longer keys are rare and are not cached. */
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
