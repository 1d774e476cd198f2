// Prints the supervisor's events as JSON lines or as sentences.
import type { Screen } from "../screen/screen.ts";
import { BAR } from "../screen/failure-lines.ts";
import { duration } from "../screen/table.ts";
import { linesOf } from "@antiphon/contracts/shapes/visible-text";
import { DEFAULT_GATEWAY } from "../config.ts";
import type { DevEvent, Report } from "./events.ts";
import { LogFile } from "./log-file.ts";

export function devPrinter(screen: Screen, json: boolean): Report {
  if (json) return (event) => screen.json(event);
  return (event) => {
    for (const line of describe(event, screen)) screen.out(line);
  };
}

/** JSON lines with their times. The file begins with the first event, when the lock of the directory is taken. */
export function filePrinter(path: string): Report {
  let file: LogFile | null = null;
  return (event) => {
    file ??= new LogFile(path);
    file.write(JSON.stringify({ time: new Date().toISOString(), ...event }));
  };
}

function describe(event: DevEvent, { colours: c }: Screen): string[] {
  switch (event.event) {
    case "child_started":
      return [];
    case "child_log":
      return [
        `${c.dim(event.name.padEnd(14))} ${event.level === "warn" ? c.yellow("warn ") : c.red(event.level.padEnd(5))} ${event.line}`,
      ];
    case "child_exited": {
      const how = event.signal === null ? `exited with code ${event.code}` : `was killed by ${event.signal}`;
      const head = `${c.dim(event.name.padEnd(14))} ${c.red("down ")} ${how}; restarting in ${duration(event.restartInMs)}`;
      return [head, ...event.tail.slice(-3).map((line) => c.dim(`${" ".repeat(21)}${line}`))];
    }
    case "ready":
      return [
        "",
        `${c.green("✓")} ${c.bold("antiphon is ready")} after ${duration(event.elapsedMs)}`,
        `  gateway   ${event.gateway} (open it in a browser for the page)`,
        `  nats      ${event.nats}`,
        `  logs      ${event.logs}`,
        "",
        ...(event.gateway === DEFAULT_GATEWAY
          ? []
          : [`  first     export ANTIPHON_GATEWAY_URL=${event.gateway}`]),
        `  try       antiphon run "<intent>" --repo <path> --command "<cmd>" --check "<cmd>"`,
        `  stop      Ctrl-C`,
        "",
      ];
    case "reloaded":
      return [
        `${c.green("✓")} ${event.names.length === 0 ? "no service changed" : `restarted ${event.names.join(", ")} in ${duration(event.elapsedMs)}`}`,
      ];
    case "build_failed":
      return [
        `${c.red("✗")} the build failed; the services keep running the previous build`,
        ...linesOf(event.message).map((line) => `${BAR}${line}`),
      ];
    case "draining":
      return ["", `${event.reason}: stopping the services; press Ctrl-C again to stop at once`];
    case "stopped":
      return [`everything stopped after ${duration(event.elapsedMs)}`];
  }
}
