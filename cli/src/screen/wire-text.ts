// Shows a wire message as text: MessagePack becomes JSON, text stays text, anything else is shown as base64.
import { decode } from "@antiphon/contracts/wire/codec";
import { visibleJson } from "@antiphon/contracts/shapes/visible-text";

export function decodeForReading(bytes: Buffer, pretty: boolean): string {
  if (bytes.length === 0) return "";
  // Acks, control messages (`+WPI`) and JSON documents on the same subjects are text already.
  if (isText(bytes) && !isSingleByte(bytes)) return bytes.toString("utf8").replace(/\n$/, "");
  try {
    return toJson(decode(new Uint8Array(bytes)), pretty); // A Buffer has a toJSON of its own.
  } catch {
    return JSON.stringify({ bytes: bytes.length, base64: bytes.subarray(0, 4_096).toString("base64") });
  }
}

function isText(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte < 127));
}

/** A single printable byte is read as a MessagePack integer, which is the likelier meaning. */
function isSingleByte(bytes: Buffer): boolean {
  return bytes.length === 1;
}

function toJson(value: unknown, pretty: boolean): string {
  const readable = (_key: string, item: unknown): unknown => {
    if (item instanceof Uint8Array) return { base64: Buffer.from(item).toString("base64") };
    return typeof item === "bigint" ? item.toString() : item;
  };
  return visibleJson(JSON.stringify(value, readable, pretty ? 2 : undefined) ?? "null");
}
