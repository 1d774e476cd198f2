import { createLogger } from "@antiphon/runtime";
import { dockerEngine } from "./adapters/docker-engine.ts";
import { readSandboxConfig } from "./config.ts";
import { reapUntil } from "./reaper.ts";

/**
 * The reaper as a process of its own, for a host whose runner may stay away: beside a runner in a pod, or from a
 * timer. It holds no container, so it removes only what has no living owner or is past its deadline.
 */
export async function main(): Promise<void> {
  const log = createLogger("reaper");
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const { instance } = readSandboxConfig();
  log.info({ instance, ready: true }, "ready");
  await reapUntil(
    {
      engine: dockerEngine(),
      instance,
      self: () => null,
      onReaped: (id, reason) => log.warn({ container: id.slice(0, 12), reason }, "orphan removed"),
      onFailure: (error) => log.warn({ err: error }, "reaping failed"),
    },
    stop.signal,
  );
}
