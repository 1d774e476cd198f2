// antiphon run "<intent>" --repo <path>: starts a run and watches it to its end.
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Intent } from "@antiphon/contracts";
import { collect, examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";
import type { RunFlags } from "../runs/run-request.ts";

interface RunOptions extends RunFlags {
  readonly follow?: boolean;
  readonly detach?: boolean;
  /** False: --no-start. */
  readonly start: boolean;
  readonly json?: boolean;
}

export const addRun: AddVerb = (program, context) => {
  program
    .command("run")
    .summary("carry out an intent on a git repository and land a verified commit")
    .description(
      "Carries out an intent on a git repository and waits for the end: a verified commit on the branch antiphon/<runId>, or the reason it failed.\n" +
        '"run get|cancel|pause|resume|answer|approve|reject|changes|events <runId>" work like the verbs of these names.',
    )
    .argument("<intent...>", "the goal of the run, in plain words")
    .option("--repo <path>", "the git repository to work on (default: the one around the current directory)")
    .option("--agent <kind>", "scripted, command or replay; implied by the options below")
    .option(
      "--command <cmd>",
      "agent scripted: a shell command that edits the work tree (repeatable)",
      collect,
    )
    .option("--patch <file>", "agent scripted: a unified diff, or a Patch.v0 as JSON; - is stdin")
    .option(
      "--program <argv...>",
      "agent command: a program in the sandbox image; or write it after a bare --",
    )
    .option("--seed <s>", "agent replay: the seed of a recorded session")
    .option("--recording <file>", "agent replay: store this session (JSON {input, output}) first")
    .option(
      "--check <cmd>",
      "a command that verifies success (repeatable); auto-detected if omitted",
      collect,
    )
    .option("--base <ref>", "start from this branch, tag or commit instead of HEAD")
    .option("--land <branch>", "on success, also move this branch to the new commit")
    .option("--workflow <w>", "BUILD, DEBUG, REVIEW or PLAN; chosen by the Router if omitted")
    .option("--tasks <file>", "read the task graph from a YAML or JSON file instead of planning it")
    .option("--attempts <n>", "maximum attempts per task (default 3)")
    .option("--time-budget <seconds>", "time limit of one attempt (default 300)")
    .option("--grant <glob>", "let the run change protected paths: tests, CI, config (repeatable)", collect)
    .option("--scope <glob>", "let the run change only these paths (repeatable)", collect)
    .option("--allow-unverified", "land the change even if no check is found")
    .option("--allow-unproven", "land the change even if the check also passes without it")
    .option("--require-proof <p>", "land only what the checks prove: `regression` or `fail-to-pass`")
    .option("--trials <n>", "run the checks exactly n times (default: twice or more, by their time)")
    .option("--allow-dirty", "ignore uncommitted changes and start from the last commit")
    .option("--egress <profile>", "network access of the sandbox: none (default), git+pkg or allowlist")
    .option("--allow-host <host>", "let the sandbox reach this host (repeatable)", collect)
    .option("--model-tokens <n>", "token budget for all model calls of the run (default: no model calls)")
    .option("--model-usd <amount>", "budget in US dollars for all model calls of the run")
    .option("--require-approval [n]", "land nothing until n different people have approved it (default 1)")
    .option("--image <ref>", "an allowed sandbox image; `default` is the standard image")
    .option("--history <n>", "commits of history in the sandbox's git repository (default 50; 0: none)")
    .option("--verify-git", "give the checks in the clean room a git repository too")
    .option("--setup <command>", "prepare the environment with this command (repeatable)", collect)
    .option("--no-setup", "prepare no environment")
    .option("--follow", "also show the live output of the sandboxes")
    .option("--detach", "print the run id and return at once")
    .option("--no-start", "do not start the services of this machine if no gateway answers")
    .option("--json", "print one JSON object (with --follow: one per line)")
    .addHelpText(
      "after",
      examples([
        'antiphon run "Fix the failing date parser" --patch fix.diff --check "npm test"',
        'antiphon run "Add a licence header" --repo ./app --command "./add-header.sh" --allow-unverified',
        'antiphon run "Refactor the parser" --repo . --check "make test" --agent command -- my-agent --fast',
        "antiphon run get run_4f0c2k9s0x7d2m1q8z3a",
      ]),
    )
    .action(async (words: string[], options: RunOptions) => {
      await run(context, words.join(" "), options);
    });
};

async function run(context: CliContext, goal: string, options: RunOptions): Promise<void> {
  if (goal.trim() === "")
    throw usage("the intent is empty", 'describe the goal in words: antiphon run "..."');
  const { loadFiles, localProblem, repositoryOf } = await import("../runs/run-files.ts");
  const { intentOf } = await import("../runs/run-request.ts");
  const flags: RunFlags = context.program === null ? options : { ...options, program: context.program };
  const repoPath = repositoryOf(flags.repo);
  const problem = localProblem(context.config.gatewayUrl, repoPath);
  if (problem !== null) throw problem;
  const files = await loadFiles(flags);
  const intent = intentOf(goal, repoPath, flags, files);
  if (options.start) await (await import("../gateway/local-gateway.ts")).ensureGateway(context);
  const runId = await start(context, intent, files.recording);
  if (options.detach === true) return announce(context, runId, options.json === true);

  const jsonLines = options.json === true && options.follow === true;
  if (options.json !== true) context.screen.out(`${runId}  ${basename(repoPath)}: ${goal}`);
  const { follow, printSummary } = await import("../runs/follow.ts");
  const { exitCodeOf } = await import("../runs/summary.ts");
  const end = await follow(context, runId, {
    logs: options.follow === true,
    jsonLines,
    quiet: options.json === true,
  });
  if (end.kind === "interrupted") return turnedAway(context, runId);
  if (options.json === true)
    context.screen.json(jsonLines ? { event: "summary", ...end.summary } : end.summary);
  else printSummary(context, end.summary);
  const { code, message, status } = end.summary;
  if (code !== null && status !== "succeeded" && options.json !== true) {
    const failure = new Failure(code, message);
    context.screen.err(`error ${failure.code}: ${failure.message}`);
    context.screen.err(`remedy: ${failure.remedy}`);
  }
  context.setExitCode(exitCodeOf(status));
}

async function start(context: CliContext, intent: Intent, recording: unknown): Promise<string> {
  const gateway = await context.gateway();
  if (recording !== null) await gateway.postOnce("/recordings", recording, randomUUID());
  const { intentId } = await gateway.postOnce<{ intentId: string }>("/intents", intent, randomUUID());
  const { runId } = await gateway.postOnce<{ runId: string }>(
    `/intents/${intentId}/run`,
    undefined,
    randomUUID(),
  );
  return runId;
}

function announce({ screen }: CliContext, runId: string, json: boolean): void {
  if (json) return screen.json({ runId });
  screen.out(runId);
  screen.err(`watch it with: antiphon events ${runId}`);
}

/** Ctrl-C stops only the watching. */
function turnedAway(context: CliContext, runId: string): void {
  context.screen.err("");
  context.screen.err(`${runId} is still running.`);
  context.screen.err(`  watch it again: antiphon events ${runId}`);
  context.screen.err(`  stop it:        antiphon cancel ${runId}`);
  context.setExitCode(130);
}
