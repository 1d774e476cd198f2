// antiphon dev: runs all of Antiphon on this machine.
import { resolve } from "node:path";
import { PROVIDER_NAMES } from "@antiphon/contracts/settings/sandbox-providers";
import { Option } from "commander";
import { devDirectory } from "../dev/instance.ts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";

interface DevFlags {
  readonly port: string;
  readonly natsPort: string;
  readonly associates: string;
  readonly metricsPort?: string;
  readonly sandbox?: string;
  readonly stateDir?: string;
  readonly watch?: boolean;
  readonly background?: boolean;
  readonly status?: boolean;
  readonly stop?: boolean;
  readonly eventsTo?: string;
  readonly json?: boolean;
}

export const addDev: AddVerb = (program, context) => {
  program
    .command("dev")
    .summary("run all services and a nats-server on this machine")
    .option("--port <n>", "port of the gateway; 0 picks a free one", "3001")
    .option("--nats-port <n>", "port of the nats-server; 0 picks a free one", "4222")
    .option("--associates <n>", "number of Associates (the workers that run agents)", "1")
    .option(
      "--metrics-port <n>",
      "serve Prometheus metrics: the first service at this port, the others at the ports after it",
    )
    .addOption(
      new Option("--sandbox <provider>", "the sandbox provider (default docker)").choices(PROVIDER_NAMES),
    )
    .option("--state-dir <dir>", "directory of the data and logs (default: dev in the state directory)")
    .option("--watch", "rebuild when a source changes and restart the affected services (checkout only)")
    .option("--background", "return as soon as it is ready, and leave it running")
    .option("--status", "say whether it runs, and where")
    .option("--stop", "end the one that runs, wherever it was started")
    .addOption(new Option("--events-to <file>", "write the events to a file").hideHelp())
    .option(
      "--json",
      "print one JSON object per event: child_started, child_exited, ready, draining, stopped",
    )
    .addHelpText(
      "after",
      examples([
        "antiphon dev",
        "antiphon dev --associates 4",
        "antiphon dev --watch",
        "antiphon dev --metrics-port 9464",
        "antiphon dev --background",
        "antiphon dev --stop",
        "antiphon dev --sandbox bubblewrap",
        "antiphon dev --port 0 --nats-port 0 --state-dir /tmp/trial",
      ]),
    )
    .action(async (flags: DevFlags) => {
      const modes = [flags.background, flags.status, flags.stop, flags.watch].filter((mode) => mode === true);
      if (modes.length > 1) throw usage("give only one of --background, --status, --stop and --watch");
      const dir = resolve(flags.stateDir ?? devDirectory(context.config.stateDir));
      if (flags.status === true) return (await import("../dev/control.ts")).showStatus(context, dir, flags);
      if (flags.stop === true) return (await import("../dev/control.ts")).stop(context, dir, flags);
      if (flags.background === true)
        return (await import("../dev/control.ts")).startBackground(context, dir, flags);
      await dev(context, dir, flags);
    });
};

async function dev(context: CliContext, dir: string, flags: DevFlags): Promise<void> {
  const { Supervisor } = await import("../dev/supervisor.ts");
  const { placesOf } = await import("../agents/pack-places.ts");
  const { devPrinter, filePrinter } = await import("../dev/printer.ts");
  const { watchSources } = await import("../dev/source-watch.ts");
  const report =
    flags.eventsTo === undefined
      ? devPrinter(context.screen, flags.json === true)
      : filePrinter(flags.eventsTo);
  const { own, shipped } = placesOf(context);
  const options = {
    dir,
    packFolders: [own, shipped],
    port: number("--port", flags.port, 0, 65_535),
    natsPort: number("--nats-port", flags.natsPort, 0, 65_535),
    associates: number("--associates", flags.associates, 1, 64),
    metricsPort:
      flags.metricsPort === undefined ? null : number("--metrics-port", flags.metricsPort, 0, 65_000),
    sandbox: flags.sandbox ?? null,
    readyWithinMs: 60_000,
    mapsEveryStack: flags.watch === true,
  };
  let watched: { stop(): void } | null = null;
  const supervisor = new Supervisor(context.config, options, context.bundle, report);
  let asked = 0;
  let finished: () => void = () => undefined;
  const untilAsked = new Promise<void>((resolve) => (finished = resolve));
  const onSignal = (signal: NodeJS.Signals): void => {
    if (++asked > 1) return supervisor.kill();
    report({ event: "draining", reason: signal });
    finished();
    void supervisor.stop();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  try {
    // Watching starts first, so a source saved during the start is not missed.
    const onBuilt = async (bundle: string): Promise<void> => {
      await started;
      await supervisor.reload(bundle);
    };
    const onFailed = (message: string): void => report({ event: "build_failed", message });
    if (flags.watch === true) watched = await watchSources(context.root, onBuilt, onFailed);
    const started = supervisor.start();
    await started;
    await untilAsked;
  } catch (error) {
    // A signal stopped the start, so its error is expected.
    if (asked === 0) throw withPlace(error, dir);
  } finally {
    const began = Date.now();
    watched?.stop();
    await supervisor.stop();
    if (asked > 0) report({ event: "stopped", elapsedMs: Date.now() - began });
  }
}

/** A write to an open file fails without its path, and the remedy of a full disk is about the place that is named. */
function withPlace(thrown: unknown, dir: string): unknown {
  const { code, message, cause } = Failure.from(thrown);
  if (code !== "ANT_STATE_DISK_FULL" || (cause as NodeJS.ErrnoException | undefined)?.syscall !== "write")
    return thrown;
  return new Failure(code, `${dir}: ${message}`, { cause });
}

function number(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw usage(`${flag} takes a number from ${min} to ${max}, not ${JSON.stringify(text)}`);
  return value;
}
