// Runs the set-up program of this installation, or one of its steps, in a child process.
//
// Set-up does not go through the gateway: a sandbox-runner needs the image before it can serve, and NATS has to be there
// before any service, so no service could do it. The program is plain Node, because in a checkout it runs before the npm
// packages exist.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../config.ts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";

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

/** Returns the exit code. The output goes to this process's own output. */
export async function runSetup(context: CliContext, options: readonly string[]): Promise<number> {
  return (await setup(context, options, "inherit")).code;
}

/** Runs set-up with `--json` among its options. */
export async function setupReport(context: CliContext, options: readonly string[]): Promise<SetupReport> {
  const { text } = await setup(context, options, "pipe");
  try {
    return JSON.parse(text) as SetupReport;
  } catch (cause) {
    throw new Failure("ANT_SETUP_FAILED", "the set-up program ended without a report", {
      remedy: "run antiphon setup, which shows what happens",
      cause,
    });
  }
}

function setup(
  { root, config }: CliContext,
  options: readonly string[],
  output: "inherit" | "pipe",
): Promise<{ code: number; text: string }> {
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
    const child = spawn(process.execPath, [program, ...options], {
      env,
      stdio: ["ignore", output, "inherit"],
    });
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (part: string) => (text += part));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, text }));
  });
}
