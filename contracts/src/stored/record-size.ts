/** How much one record of the journal can say. The server measures a message with its headers, so a body has less. */
import { encode } from "../wire/codec.ts";
import { limits } from "../limits.ts";

/** The most bytes a body may take, so that its record is stored whatever its ids and headers are. */
export const recordBodyBytes = limits.recordBytes - limits.recordEnvelopeBytes;

/** The bytes a body takes in its record. */
export function bodyBytes(body: unknown): number {
  return encode(body).length;
}
