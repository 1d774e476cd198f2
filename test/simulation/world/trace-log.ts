/** Adds the services' log lines to the trace, because they are part of what happened. */
import type { Logger } from "../../../runtime/src/index.ts";
import type { Timeline } from "../timeline.ts";

/** `kept` false: the lines are not stored, which is ten times faster. */
export function traceLog(timeline: Timeline, kept: boolean): Logger {
  const nothing = (): void => undefined;
  const line =
    (level: string) =>
    (fields: unknown, text?: string): void => {
      if (typeof fields === "string") return timeline.note(`${level} ${fields}`);
      timeline.note(`${level} ${text ?? ""} ${JSON.stringify(fields, shortened)}`);
    };
  const levels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
  const log = Object.fromEntries(levels.map((level) => [level, kept ? line(level) : nothing]));
  return { ...log, child: () => log, isLevelEnabled: () => kept } as unknown as Logger;
}

function shortened(_: string, value: unknown): unknown {
  return value instanceof Error ? `${value.name}: ${value.message}` : value;
}
