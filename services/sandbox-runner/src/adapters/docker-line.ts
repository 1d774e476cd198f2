/** The line to a supervisor in a container: Docker's attach stream, and the engine's verbs. */
import type { Duplex } from "node:stream";
import { EngineDemux } from "../core/frames.ts";
import type { Engine } from "./docker-engine.ts";
import { writeUntilDrained } from "./drained-write.ts";
import type { SupervisorLine } from "./supervisor-line.ts";

/** `gone`: asked of the engine after the container was started. */
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
    remove: () => engine.remove(id),
    rename: (name) => engine.rename(id, name),
    hangUp: () => void stream.destroy(),
  };
}
