import { pino } from "pino";
import type { Logger as PinoLogger } from "pino";

export type Logger = PinoLogger;

/** Keys whose values never reach a log line, wherever they are nested up to two levels deep. */
const secretKeys = ["token", "password", "secret", "authorization", "apiKey", "nkey", "seed", "cookie"];
const redactions = secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);

export interface LoggerOptions {
  /** pino level; `silent` mutes. Default `info`. */
  level?: string;
  /** Fields of every line: node id, version. */
  fields?: Record<string, unknown>;
  /** Where lines go; default standard error, so that standard output stays the program's own. */
  destination?: { write(line: string): void };
}

/** JSON lines with ISO time. Services log to standard error: standard output belongs to the user's data. */
export function createLogger(name: string, options: LoggerOptions = {}): Logger {
  return pino(
    {
      name,
      level: options.level ?? "info",
      base: { ...options.fields },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactions, censor: "[redacted]" },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}
