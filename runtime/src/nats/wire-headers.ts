import type { Msg, MsgHdrs } from "@nats-io/nats-core";

const crlf = /[\r\n]/;

/**
 * Header block of an outgoing message, encoded once. The client library's own header object looks up and
 * validates each key again for each message; on the publish path that is a third of the client's time.
 * The library calls nothing but `encode()` on outgoing headers (pinned version, held by a test).
 */
export function wireHeaders(fields: Readonly<Record<string, string>>): MsgHdrs {
  let text = "NATS/1.0\r\n";
  for (const key in fields) {
    const value = fields[key] ?? "";
    if (crlf.test(value)) throw new RangeError(`header ${key} contains a line break`);
    text += `${key}: ${value}\r\n`;
  }
  const bytes = Buffer.from(`${text}\r\n`, "utf8");
  return { encode: () => bytes } as unknown as MsgHdrs;
}

/** What the client library keeps of a message that came with headers: their length, and all its bytes. */
interface Received {
  readonly _msg?: { readonly hdr: number };
  readonly _rdata?: Uint8Array;
}

/**
 * Reads headers of a received message by name, exactly as it was written; "" where there is none. The library's own way
 * parses all of them into canonical names, a tenth of what a delivery costs its reader. Where a message is not as the
 * pinned version makes it, that way is taken.
 */
export function headersOf(message: Msg): (name: string) => string {
  const { _msg, _rdata } = message as unknown as Received;
  if (_msg === undefined || _rdata === undefined) return (name) => message.headers?.get(name) ?? "";
  if (_msg.hdr <= 0) return () => "";
  const block = Buffer.from(_rdata.buffer, _rdata.byteOffset, _msg.hdr).toString("utf8");
  return (name) => {
    const label = `\r\n${name}: `;
    const from = block.indexOf(label);
    return from < 0 ? "" : block.slice(from + label.length, block.indexOf("\r\n", from + 2));
  };
}
