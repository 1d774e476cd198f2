import { AntiphonError } from "@antiphon/contracts";
import { pino } from "pino";
import type { Logger as PinoLogger } from "pino";
import { standardErrorLines } from "./log-lines.ts";
import { sourceStack } from "./source-stack.ts";

export type Logger = PinoLogger;

/** Keys whose values never reach a log line, even nested up to two levels deep. */
const secretKeys: ReadonlySet<string> = new Set([
  "token",
  "password",
  "secret",
  "authorization",
  "apiKey",
  "nkey",
  "seed",
  "cookie",
]);
const depthOfSecrets = 3;

/** Returns the object itself if it holds no secret. Most lines hold a few ids, and pino's own redaction copies each. */
function redacted(fields: object, depth = depthOfSecrets): object {
  let copy: Record<string, unknown> | null = null;
  for (const [key, value] of Object.entries(fields)) {
    let shown: unknown = value;
    if (secretKeys.has(key)) shown = "[redacted]";
    else if (depth > 1 && typeof value === "object" && value !== null && !(value instanceof Error)) {
      shown = redacted(value as object, depth - 1);
    }
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[key] = shown;
  }
  return copy ?? fields;
}

export interface LoggerOptions {
  /** pino level; `silent` mutes. Default `info`. */
  level?: string;
  /** Default standard error, so that standard output belongs to the program. */
  destination?: { write(line: string): void };
}

/** JSON lines with ISO time. Services log to standard error: standard output belongs to the user's data. */
export function createLogger(name: string, options: LoggerOptions = {}): Logger {
  return pino(
    {
      name,
      level: options.level ?? "info",
      base: {},
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: (fields) => redacted(fields) as Record<string, unknown>,
        log: (fields) => redacted(fields) as Record<string, unknown>,
      },
      serializers: { err: (error: Error) => redacted(shownError(error)) },
    },
    options.destination ?? standardErrorLines(),
  );
}

/** A coded error is logged with its code and cause; a stack is useful only for a bug. */
function shownError(error: Error): object {
  if (!(error instanceof AntiphonError) || error.code === "ANT_INTERNAL")
    return withSourceStack(pino.stdSerializers.err(error));
  const { code, detail: message, data, cause } = error;
  const because = cause instanceof Error ? { cause: cause.message } : {};
  return { code, message, ...(Object.keys(data).length > 0 ? { data } : {}), ...because };
}

function withSourceStack(shown: ReturnType<typeof pino.stdSerializers.err>): object {
  return { ...shown, stack: sourceStack(shown.stack) };
}
