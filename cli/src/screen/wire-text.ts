// What is on the wire, as text: MessagePack becomes JSON, text stays text, and anything else is said to be bytes.
import { decode } from "@antiphon/contracts/wire/codec";

export function decodeForReading(bytes: Buffer, pretty: boolean): string {
  if (bytes.length === 0) return "";
  // Control messages and documents on the same subjects are text already (acks, JSON, `+WPI`).
  if (isText(bytes) && !isSingleByte(bytes)) return bytes.toString("utf8").replace(/\n$/, "");
  try {
    return toJson(decode(new Uint8Array(bytes)), pretty); // A Buffer would print itself its own way.
  } catch {
    return JSON.stringify({ bytes: bytes.length, base64: bytes.subarray(0, 4_096).toString("base64") });
  }
}

function isText(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127));
}

/** One printable byte is a MessagePack integer as well; that reading tells more. */
function isSingleByte(bytes: Buffer): boolean {
  return bytes.length === 1;
}

function toJson(value: unknown, pretty: boolean): string {
  const readable = (_key: string, item: unknown): unknown => {
    if (item instanceof Uint8Array) return { base64: Buffer.from(item).toString("base64") };
    return typeof item === "bigint" ? item.toString() : item;
  };
  return JSON.stringify(value, readable, pretty ? 2 : undefined) ?? "null";
}
