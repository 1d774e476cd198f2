// Runs the set-up program of this installation, or one of its steps, in a child process.
//
// Set-up does not go through the gateway: a sandbox-runner needs the image before it can serve, and NATS has to be there
// before any service, so no service could do it. The program is plain Node, because in a checkout it runs before the npm
// packages exist.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { childEnvironment } from "../config.ts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { BAR } from "../screen/failure-lines.ts";

/** The report that set-up prints with --json. */
export interface SetupReport {
  readonly ok: boolean;
  readonly steps: readonly {
    readonly name: string;
    readonly outcome: "present" | "made" | "failed";
    readonly detail: string;
    readonly remedy?: string;
  }[];
}

/** Shows what set-up does and returns its exit code. With --json, prints its report instead. */
export async function runSetup(
  context: CliContext,
  options: readonly string[],
  json: boolean,
): Promise<number> {
  const { screen } = context;
  if (!json) return setup(context, options, (stdout) => eachLine(stdout, (line) => screen.out(line)));
  const report = await setupReport(context, options);
  screen.json(report);
  return report.ok ? 0 : 1;
}

export async function setupReport(context: CliContext, options: readonly string[]): Promise<SetupReport> {
  let report = "";
  // As it is: readline also ends a line at U+2028, which a text in JSON may hold.
  await setup(context, [...options, "--json"], async (stdout) => void (report = await text(stdout)));
  try {
    return JSON.parse(report) as SetupReport;
  } catch (cause) {
    throw new Failure("ANT_SETUP_FAILED", "the set-up program ended without a report", {
      remedy: "run antiphon setup, which shows what happens",
      cause,
    });
  }
}

/** Resolves with the exit code when all output has been read. */
function setup(
  { root, config, screen }: CliContext,
  options: readonly string[],
  read: (stdout: Readable) => Promise<void>,
): Promise<number> {
  const program = join(root, "setup/main.mjs");
  if (!existsSync(program)) {
    const remedy =
      "use a checkout or the npm package, or load an image and name it in ANTIPHON_SANDBOX_IMAGE";
    throw new Failure("ANT_SETUP_MISSING", "this installation does not include the set-up program", {
      remedy,
    });
  }
  const env = childEnvironment({ ANTIPHON_STATE_DIR: config.stateDir });
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...options], { env, stdio: ["ignore", "pipe", "pipe"] });
    const said = [read(child.stdout), eachLine(child.stderr, (line) => screen.err(`${BAR}${line}`))];
    child.once("error", reject);
    child.once("close", (code) => void Promise.all(said).then(() => resolve(code ?? 1)));
  });
}

async function eachLine(input: Readable, tell: (line: string) => void): Promise<void> {
  await once(createInterface({ input }).on("line", tell), "close");
}
