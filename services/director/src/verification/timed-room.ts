/** The clean room, with its orders timed. */
import type { Meter } from "@antiphon/runtime";
import type { CleanRoomPort } from "../ports.ts";

export function timedRoom(room: CleanRoomPort, meter: Meter): CleanRoomPort {
  if (!meter.isOn) return room;
  return {
    async check(request, signal) {
      const begun = performance.now();
      let outcome = "failed";
      try {
        const result = await room.check(request, signal);
        outcome = "checked";
        return result;
      } finally {
        const labels = { purpose: request.purpose, outcome: signal.aborted ? "canceled" : outcome };
        meter.observe("antiphon_clean_room_duration_seconds", labels, (performance.now() - begun) / 1_000);
      }
    },
  };
}
