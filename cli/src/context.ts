// The context passed to every verb: the screen, the gateway client and the paths of this installation.
import type { Command } from "commander";
import type { RunFlag } from "@antiphon/contracts/runs/run-options";
import type { CliConfig } from "./config.ts";
import { Failure } from "./failure.ts";
import type { GatewayClient } from "./gateway/gateway-client.ts";
import type { Screen } from "./screen/screen.ts";

export interface CliContext {
  readonly screen: Screen;
  readonly config: CliConfig;
  readonly version: string;
  /** The checkout, or the directory of Antiphon in an image. */
  readonly root: string;
  /** Directory of the running bundle. */
  readonly bundle: string;
  /** The words after a bare `--`. */
  readonly program: string[] | null;
  /** The flags of the table of run options; none for a verb that does not show them. */
  readonly runFlags: readonly RunFlag[];
  gateway(): Promise<GatewayClient>;
  setExitCode(code: number): void;
}

export type AddVerb = (program: Command, context: CliContext) => void;

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}\n`;
}

const RUN_ID = /^run_[a-z0-9]{1,32}$/;

export function runId(text: string): string {
  if (RUN_ID.test(text)) return text;
  throw new Failure("ANT_USAGE", `${JSON.stringify(text)} is not a run id (run_...)`, {
    remedy: "`antiphon runs` lists the runs",
  });
}
