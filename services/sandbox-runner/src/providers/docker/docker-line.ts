/** The line to a supervisor in a container: Docker's attach stream, and the engine's calls. */
import type { Duplex } from "node:stream";
import { AntiphonError } from "@antiphon/contracts";
import { withDeadline } from "@antiphon/runtime";
import { EngineDemux } from "../../conversation/frames.ts";
import type { Engine } from "./docker-engine.ts";
import { writeUntilDrained } from "../../conversation/drained-write.ts";
import type { SupervisorLine } from "../../conversation/supervisor-line.ts";

/** The engine answers while a removal is still under way; this is how long the removal may take. */
const REMOVAL_MS = 10_000;

/** `gone` must be requested after the container was started. */
export function dockerLine(
  engine: Engine,
  id: string,
  stream: Duplex,
  gone: Promise<number>,
): SupervisorLine {
  return {
    id,
    gone,
    listen: (listener) => {
      const demux = new EngineDemux();
      stream.on("data", (chunk: Buffer) => {
        try {
          for (const { stream: name, bytes } of demux.push(chunk)) listener[name](bytes);
        } catch (error) {
          listener.fault(error instanceof Error ? error.message : String(error));
        }
      });
      for (const event of ["end", "close", "error"]) stream.on(event, () => listener.closed());
    },
    write: (bytes) => writeUntilDrained(stream, bytes),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    kill: () => engine.kill(id),
    remove: async () => {
      await engine.remove(id);
      await removal(id, gone);
    },
    rename: (name) => engine.rename(id, name),
    hangUp: () => void stream.destroy(),
  };
}

async function removal(id: string, gone: Promise<unknown>): Promise<void> {
  await withDeadline(REMOVAL_MS, gone, () => {
    throw new AntiphonError("ANT_SANDBOX_LEFT", `container ${id.slice(0, 12)} is still being removed`);
  });
}
