import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/**
 * Deletes one message by its sequence. The bytes are not overwritten: the pack has them, and the server gives the space
 * back with the block. Cheaper by far than a purge by subject, which looks through all the consumers of the stream.
 */
export async function deleteRecord(bus: Bus, stream: string, seq: number): Promise<void> {
  try {
    await bus.jsm.streams.deleteMessage(stream, seq, false);
  } catch (error) {
    // The server has no code of its own for "it is gone already".
    const there = !bus.connected
      ? "unknown"
      : await bus.jsm.streams.getMessage(stream, { seq }).catch(() => "unknown");
    if (there !== null) throw AntiphonError.from(error, "ANT_NATS_UNREACHABLE");
  }
}
