/**
 * The process of a service: the first SIGTERM or SIGINT drains it, a second one ends it at once, and each end has an exit code
 * (runtime/J13).
 */
import { AntiphonError } from "@antiphon/contracts";
import { readRuntimeConfig } from "../process/config.ts";
import { collectWhenIdle } from "../process/idle-collection.ts";
import { standardErrorLines } from "../process/log-lines.ts";
import { createLogger, type Logger } from "../process/logger.ts";
import { sourceStack } from "../process/source-stack.ts";
import { startService, type ServiceDefinition } from "./service-life.ts";

/** The body of every service's `main.ts`. Returns when the service has stopped; the process then exits. */
export async function runService(definition: ServiceDefinition): Promise<void> {
  process.on("uncaughtException", (error) => die(definition.name, error));
  process.on("unhandledRejection", (reason) => die(definition.name, reason));
  try {
    const config = readRuntimeConfig();
    const log = createLogger(definition.name, { level: config.logLevel });
    const told = firstSignal(log);
    const started = await Promise.race([startService(definition, config, log), told]);
    if (typeof started === "string") {
      log.info({ signal: started }, "stopped before it was ready"); // It holds no work yet, so it can exit at once.
      process.exit(0);
    }
    log.info({ node: started.node, pid: process.pid, ready: true }, "ready");
    process.send?.({ kind: "ready", service: definition.name });
    collectWhenIdle();
    const why = await Promise.race([told, started.bus.closed.then(() => "closed" as const)]);
    if (why === "closed")
      throw new AntiphonError("ANT_NATS_UNREACHABLE", "the server ended the connection for good"); // runtime/J13
    log.info({ signal: why }, "draining");
    await started.stop();
    log.info("stopped");
    process.exit(0);
  } catch (error) {
    die(definition.name, error); // runtime/J13
  }
}

function firstSignal(log: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let seen = false;
    const hear = (signal: NodeJS.Signals): void => {
      if (seen) {
        log.warn({ signal }, "second signal: exiting at once");
        process.exit(signal === "SIGINT" ? 130 : 143);
      }
      seen = true;
      resolve(signal);
    };
    process.on("SIGTERM", hear);
    process.on("SIGINT", hear);
  });
}

/** Writes one coded line and exits. */
function die(service: string, thrown: unknown): never {
  const error = AntiphonError.from(thrown);
  const line = { level: "fatal", time: new Date().toISOString(), service, ...error.toJSON() };
  const stack =
    error.code === "ANT_INTERNAL" && thrown instanceof Error
      ? { stack: sourceStack(thrown.stack ?? "") }
      : {};
  const lines = standardErrorLines();
  lines.write(`${JSON.stringify({ ...line, ...stack })}\n`);
  lines.flush();
  process.exit(error.exitCode === 0 ? 1 : error.exitCode);
}
