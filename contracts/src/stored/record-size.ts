/** The size limit of a journal record's body. The server measures a message with its headers, so less is left for the body. */
import { encode } from "../wire/codec.ts";
import { limits } from "../limits.ts";

/** Maximum size of a body with which its record is always stored, whatever its ids and headers. */
export const recordBodyBytes = limits.recordBytes - limits.recordEnvelopeBytes;

/** Size of a body in its record. */
export function bodyBytes(body: unknown): number {
  return encode(body).length;
}
