// `antiphon`: reads the command line, runs one verb, and reports any failure with a code and an exit code.
import { CommanderError } from "commander";
import type { Command } from "commander";
import { prepare } from "./argv.ts";
import { readConfig, colourWish } from "./config.ts";
import type { CliContext } from "./context.ts";
import { ANY_HELP, Failure, usage } from "./failure.ts";
import { gatewayAddress } from "./gateway/local-gateway.ts";
import { buildProgram } from "./program.ts";
import { openScreen } from "./screen/screen.ts";
import { usageWords } from "./screen/usage-words.ts";
import type { Screen } from "./screen/screen.ts";
import { processTerminal, type Terminal } from "./screen/terminal.ts";

declare const __ANTIPHON_VERSION__: string;

export interface MainInput {
  readonly argv: readonly string[];
  readonly root: string;
  readonly bundle: string;
  /** Default: the streams of this process. */
  readonly terminal?: Terminal;
}

export async function main({ argv, root, bundle, terminal }: MainInput): Promise<void> {
  const { args, program } = prepare(argv);
  const screen = openScreen(colourWish(), terminal ?? processTerminal());
  let tree: Command | null = null; // Null: the configuration could not be read.
  try {
    const runFlags = args.some((word) => WITH_RUN_FLAGS.has(word)) ? await loadRunFlags() : [];
    tree = buildProgram({ ...contextOf(screen, root, bundle, program), runFlags });
    if (args.length === 0) return tree.outputHelp();
    await tree.parseAsync(args, { from: "user" });
  } catch (thrown) {
    const failure = failureOf(thrown, helpOf(tree, args), args);
    if (failure === null) return;
    process.exitCode = failure.exitCode;
    if (args.includes("--json")) screen.json(failure);
    screen.failure(failure);
  }
}

/** The verbs that show the flags of a run. Others start without the schemas behind them, 20 ms sooner. */
const WITH_RUN_FLAGS = new Set(["run", "policy", "complete", "completion", "help"]);

async function loadRunFlags(): Promise<CliContext["runFlags"]> {
  const { RUN_FLAGS } = await import("@antiphon/contracts/runs/run-options");
  return RUN_FLAGS;
}

function contextOf(
  screen: Screen,
  root: string,
  bundle: string,
  program: string[] | null,
): Omit<CliContext, "runFlags"> {
  const config = readConfig(root);
  return {
    screen,
    config,
    version: __ANTIPHON_VERSION__,
    root,
    bundle,
    program,
    gateway: async () => {
      const { GatewayClient } = await import("./gateway/gateway-client.ts");
      return new GatewayClient(gatewayAddress(config), config.token, __ANTIPHON_VERSION__);
    },
    setExitCode: (code) => {
      process.exitCode = code;
    },
  };
}

/** Null: commander has printed the help or the version, so nothing failed. */
function failureOf(thrown: unknown, help: string, args: readonly string[]): Failure | null {
  if (!(thrown instanceof CommanderError)) {
    const failure = Failure.from(thrown);
    return failure.remedy === ANY_HELP ? usage(failure.message, help) : failure.about(args);
  }
  if (thrown.exitCode === 0) return null;
  const { message, hint } = usageWords(thrown, args);
  return usage(message, hint ?? help);
}

/** The help of the command that was called: `antiphon images allow --help`. */
function helpOf(tree: Command | null, args: readonly string[]): string {
  const path = ["antiphon"];
  let command = tree;
  for (const word of args) {
    const child: Command | undefined = command?.commands.find((one) => one.name() === word);
    if (child === undefined) continue;
    path.push(word);
    command = child;
  }
  return `${path.join(" ")} --help shows how`;
}
