import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/**
 * Deletes one message by its sequence without overwriting its bytes: the pack still has them, and the server frees the
 * space with the block. A purge by subject costs far more, because it checks every consumer of the stream.
 */
export async function deleteRecord(bus: Bus, stream: string, seq: number): Promise<void> {
  try {
    await bus.jsm.streams.deleteMessage(stream, seq, false);
  } catch (error) {
    // The server has no error code for "already deleted".
    const there = !bus.connected
      ? "unknown"
      : await bus.jsm.streams.getMessage(stream, { seq }).catch(() => "unknown");
    if (there !== null) throw AntiphonError.from(error, "ANT_NATS_UNREACHABLE");
  }
}
