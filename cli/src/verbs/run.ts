// antiphon run "<intent>" --repo <path>: the main job.
import { randomUUID } from "node:crypto";
import { basename, resolve } from "node:path";
import type { Intent } from "@antiphon/contracts";
import { collect, examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";
import type { RunFlags } from "../runs/run-request.ts";

interface RunOptions extends RunFlags {
  readonly follow?: boolean;
  readonly detach?: boolean;
  readonly json?: boolean;
}

export const addRun: AddVerb = (program, context) => {
  program
    .command("run")
    .summary("do an intent on a git repository: verified, landed, with evidence")
    .description(
      "Does an intent on a git repository and waits for the end: a verified commit on the branch antiphon/<runId>, or the reason why not.\n" +
        '"run get|cancel|answer|approve|reject|changes|events <runId>" are other spellings of these verbs.',
    )
    .argument("<intent...>", "what should be true afterwards, in words")
    .requiredOption("--repo <path>", "the git repository to work on")
    .option("--agent <kind>", "scripted, command or replay; the options below imply it")
    .option("--command <cmd>", "scripted: a shell command that edits the work tree (repeatable)", collect)
    .option("--patch <file>", "scripted: a unified diff, or a Patch.v0 as JSON; - is stdin")
    .option("--program <argv...>", "command: a program of the sandbox image; or put it behind a bare --")
    .option("--seed <s>", "replay: the seed of a recorded session")
    .option("--recording <file>", "replay: store this session (JSON {input, output}) first")
    .option("--check <cmd>", "a command that proves success (repeatable); none: one is looked for", collect)
    .option("--base <ref>", "start from this branch, tag or commit instead of HEAD")
    .option("--land <branch>", "on success also move this branch")
    .option("--workflow <w>", "BUILD, DEBUG, REVIEW or PLAN instead of what the Router would choose")
    .option("--tasks <file>", "a task graph as YAML or JSON")
    .option("--attempts <n>", "attempts per task (default 3)")
    .option("--time-budget <seconds>", "seconds per attempt (default 300)")
    .option("--grant <glob>", "protected paths (tests, CI, config) the run may change (repeatable)", collect)
    .option("--scope <glob>", "the only paths the run may change (repeatable)", collect)
    .option("--allow-unverified", "land although no check could be found")
    .option("--allow-unproven", "land although the check passes without the change too")
    .option("--allow-dirty", "start from the last commit although the work tree has changes")
    .option("--egress <profile>", "network of the sandbox: none (default), git+pkg or allowlist")
    .option("--allow-host <host>", "a host the sandbox may reach (repeatable)", collect)
    .option("--model-tokens <n>", "tokens the run's model calls may take in all (default: no model calls)")
    .option("--model-usd <amount>", "dollars the run's model calls may cost in all")
    .option("--require-approval [n]", "nothing lands before n different people approved it (default 1)")
    .option("--image <ref>", "sandbox image, from the allowlist; `default` is the standard one")
    .option("--follow", "show the live output of the sandboxes as well")
    .option("--detach", "print the run id and return at once")
    .option("--json", "one JSON object on stdout (with --follow: one per line)")
    .addHelpText(
      "after",
      examples([
        'antiphon run "Fix the failing date parser" --repo ./app --patch fix.diff --check "npm test"',
        'antiphon run "Add a licence header" --repo . --command "./add-header.sh" --allow-unverified',
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
    throw usage("the intent is empty", 'say what should be true afterwards: antiphon run "..."');
  const { loadFiles, localProblem } = await import("../runs/run-files.ts");
  const { intentOf } = await import("../runs/run-request.ts");
  const flags: RunFlags = context.program === null ? options : { ...options, program: context.program };
  const repoPath = resolve(flags.repo ?? ".");
  const problem = localProblem(context.config.gatewayUrl, repoPath);
  if (problem !== null) throw problem;
  const files = await loadFiles(flags);
  const intent = intentOf(goal, repoPath, flags, files);
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
  screen.err(`follow it with: antiphon events ${runId}`);
}

/** Ctrl-C ends the watching, not the run. */
function turnedAway(context: CliContext, runId: string): void {
  context.screen.err("");
  context.screen.err(`${runId} goes on without you.`);
  context.screen.err(`  watch it again: antiphon events ${runId}`);
  context.screen.err(`  stop it:        antiphon cancel ${runId}`);
  context.setExitCode(130);
}
