/**
 * Reads the server name from a TLS ClientHello of at most 16 KiB. There must be exactly one name; the result also says
 * whether an encrypted client hello hides another one.
 */
import { EgressRefusal } from "../policy/refusal.ts";

const MAX_HELLO_BYTES = 16 * 1024;
const SERVER_NAME = 0;
const ENCRYPTED_HELLO = 0xfe0d;

export interface ClientHello {
  readonly serverName: string;
  readonly hidesName: boolean;
}

/** Null: more bytes are needed. */
export function readClientHello(bytes: Buffer): ClientHello | null {
  const body = handshake(bytes);
  if (body === null) {
    if (bytes.length < MAX_HELLO_BYTES) return null;
    throw refused("a ClientHello without an end");
  }
  return helloOf(body);
}

/** The handshake message, joined from its records; null while it is incomplete. */
function handshake(bytes: Buffer): Buffer | null {
  const pieces: Buffer[] = [];
  let held = 0;
  let end: number | null = null;
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== 22 || (at + 1 < bytes.length && bytes[at + 1] !== 3))
      throw refused("not a TLS handshake");
    if (at + 5 > bytes.length) break;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_HELLO_BYTES) throw refused("a TLS record of an odd length");
    pieces.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
    held += pieces.at(-1)?.length ?? 0;
    if (held < 4) continue;
    end ??= endOf(Buffer.concat(pieces));
    if (held >= end) return Buffer.concat(pieces).subarray(4, end);
  }
  return null;
}

/** The length of the message that begins with these four bytes. */
function endOf(start: Buffer): number {
  if (start[0] !== 1) throw refused("not a ClientHello");
  const end = 4 + start.readUIntBE(1, 3);
  if (end > MAX_HELLO_BYTES) throw refused("a ClientHello over its bound");
  return end;
}

function helloOf(body: Buffer): ClientHello {
  try {
    let at = 2 + 32;
    at += 1 + body.readUInt8(at);
    at += 2 + body.readUInt16BE(at);
    at += 1 + body.readUInt8(at);
    const end = at + 2 + body.readUInt16BE(at);
    let serverName: string | null = null;
    let hidesName = false;
    for (at += 2; at < end;) {
      const type = body.readUInt16BE(at);
      const data = body.subarray(at + 4, at + 4 + body.readUInt16BE(at + 2));
      if (type === ENCRYPTED_HELLO) hidesName = true;
      if (type === SERVER_NAME) {
        if (serverName !== null) throw refused("two server names");
        serverName = nameOf(data);
      }
      at += 4 + data.length;
    }
    if (serverName === null)
      throw new EgressRefusal("ANT_EGRESS_MISMATCH", "tls:no-name", "a TLS handshake without a server name");
    return { serverName, hidesName };
  } catch (error) {
    if (error instanceof EgressRefusal) throw error;
    throw refused("a ClientHello that cannot be read");
  }
}

function nameOf(data: Buffer): string {
  const length = data.readUInt16BE(3);
  if (data.readUInt16BE(0) !== data.length - 2 || data[2] !== 0 || length !== data.length - 5)
    throw refused("a server name list that is not one name");
  return data.toString("latin1", 5);
}

function refused(why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_MALFORMED", "tls:hello", why);
}
