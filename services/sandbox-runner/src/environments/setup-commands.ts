/** Runs the commands of a setup, after a look for the tools that they need. A failure is a `SetupFault`. */
import { buildCommandFor, limits, SANDBOX_HOME, type EnvironmentSpec } from "@antiphon/contracts";
import { MAX_OUTPUT_BYTES } from "../job-limits.ts";
import { endingOfExit } from "../jobs/ending.ts";
import type { JobPorts } from "../jobs/job-ports.ts";
import type { CommandExit, Sandbox } from "../ports.ts";
import { SetupFault } from "./setup-fault.ts";
import type { SetupLog } from "./setup-log.ts";
import type { SetupNews } from "./setup-news.ts";
import { shortened, wordsOfFailure } from "./setup-words.ts";

const TOOL_MS = 60_000;
/** Of each stream: its beginning and its end, in which the first error is looked for. */
const FAILURE_BYTES = 64 * 1024;

async function requireTools(
  tools: readonly string[],
  sandbox: Sandbox,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const script = `mkdir -p ${SANDBOX_HOME} && for tool; do command -v "$tool" >/dev/null || echo "$tool"; done`;
  const { exitCode, stdout, stderr } = await tool(sandbox, ["sh", "-c", script, "sh", ...tools], env);
  const missing = stdout.tail.split("\n").filter((line) => line !== "");
  if (missing.length > 0) {
    const command = buildCommandFor(missing);
    const remedy = command === null ? "" : `; \`${command}\` makes one that has`;
    throw new SetupFault(`the image has no ${missing.join(", no ")}${remedy}`);
  }
  if (exitCode !== 0) throw new SetupFault(`${SANDBOX_HOME} cannot be made: ${stderr.tail.trim()}`);
}

function tool(
  sandbox: Sandbox,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandExit> {
  const bounds = { timeoutMs: TOOL_MS, keepBytes: 4096, maxOutputBytes: limits.documentBytes };
  return sandbox.run({ argv, cwd: "/workspace", env, stdin: null, ...bounds });
}

export interface SetupCommands {
  readonly spec: Pick<EnvironmentSpec, "commands" | "tools">;
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that lead to the network, for the commands only. */
  readonly proxy: Readonly<Record<string, string>>;
  readonly log: SetupLog;
  readonly news: SetupNews;
  readonly onOutput: JobPorts["onOutput"];
}

export async function runSetup(
  { spec, variables, proxy, log, news, onOutput }: SetupCommands,
  sandbox: Sandbox,
): Promise<void> {
  await requireTools(spec.tools, sandbox, variables);
  const env = { ...variables, ...proxy };
  const endsAt = performance.now() + limits.environmentBudgetMs;
  for (const command of spec.commands) {
    log.command(command);
    news.command(command);
    const exit = await sandbox.run({
      argv: ["sh", "-c", command],
      cwd: "/workspace",
      env,
      stdin: null,
      timeoutMs: Math.max(1, endsAt - performance.now()),
      keepBytes: FAILURE_BYTES,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: (stream, piece) => {
        log.push(piece);
        news.push(piece);
        onOutput(stream, piece);
      },
    });
    if (exit.exitCode === 0) continue;
    const limit = endingOfExit(exit, "setup")?.message;
    const said = wordsOfFailure(exit.stdout.bytes.toString("utf8"), exit.stderr.bytes.toString("utf8"));
    const why = [limit, said].filter((part) => part !== undefined && part !== "").join("; ");
    throw new SetupFault(`\`${shortened(command)}\` exited ${exit.exitCode}${why === "" ? "" : `: ${why}`}`);
  }
}
