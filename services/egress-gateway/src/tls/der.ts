/** The ASN.1 DER encodings that certificates need. */

export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const size = body.length < 0x100 ? [0x81, body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
export const set = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts);
export const octets = (...parts: readonly Buffer[]): Buffer => der(0x04, ...parts);
export const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text, "utf8"));
/** A positive number, as big-endian bytes. */
export const integer = (bytes: Buffer): Buffer =>
  der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
export const bits = (bytes: Buffer, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);

/** UTCTime, to the second; certificates use it for dates before 2050. */
export function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().slice(2, 19).replaceAll(/[-:T]/g, "");
  return der(0x17, Buffer.from(`${text}Z`, "latin1"));
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const group = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) group.unshift((left & 0x7f) | 0x80);
    bytes.push(...group);
  }
  return der(0x06, Buffer.from(bytes));
}
