// antiphon run "<intent>" --repo <path>: starts a run and watches it to its end.
import { basename } from "node:path";
import { FLAG_GROUPS, FLAG_GROUP_NAMES, type FlagGroup } from "@antiphon/contracts/runs/run-flag";
import { Option } from "commander";
import { collect, examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";
import type { PlanSource } from "../runs/plan-source.ts";
import type { Race } from "../runs/race-report.ts";
import type { RunFiles, RunFlags } from "../runs/run-request.ts";
import type { TakenUp } from "../runs/taken-up.ts";

interface RunOptions extends RunFlags {
  readonly follow?: boolean;
  readonly detach?: boolean;
  readonly parallel?: string;
  /** False: --no-start. */
  readonly start: boolean;
  readonly json?: boolean;
}

export const addRun: AddVerb = (program, context) => {
  const command = program
    .command("run")
    .summary("carry out an intent on a git repository and land a verified commit")
    .description(
      "Carries out an intent on a git repository and waits for the end: a verified commit on the branch antiphon/<runId>, or the reason it failed.\n" +
        '"run get|cancel|pause|resume|answer|approve|reject|changes|events <runId>" work like the verbs of these names.',
    )
    .argument(
      "[intent...]",
      "the goal of the run, in plain words; default: that of the plan, or of the run that --patch names",
    );
  const add = (group: FlagGroup, flag: string, help: string, reads = "text"): void => {
    const option = new Option(flag, help).helpGroup(FLAG_GROUPS[group]);
    if (reads === "texts" || reads === "pairs") option.argParser(collect);
    if (option.long === "--agent") option.argParser(alsoNamed);
    command.addOption(option);
  };
  add(
    "work",
    "--repo <path or URL>",
    "the git repository to work on (default: the one around the current directory)",
  );
  add(
    "work",
    "--connector <name>",
    "read work-items or pull-requests instead of a repository and write a brief (repeatable)",
    "texts",
  );
  add(
    "work",
    "--project <path or URL>",
    "write a brief about this repository (repeatable; default: the one around the current directory)",
    "texts",
  );
  add("work", "--topic <word>", "write a brief about entries that hold this word (repeatable)", "texts");
  for (const group of FLAG_GROUP_NAMES)
    for (const { flag, help, reads } of context.runFlags.filter((one) => one.group === group))
      add(group, flag, help, reads);
  add(
    "agent",
    "--parallel <n>",
    "start n runs of the task at once, by turns on the agents of --agent; the first verified one lands, the others are canceled",
  );
  command
    .option("--follow", "also show the live output of the sandboxes")
    .option("--detach", "print the run id and return at once")
    .option("--no-start", "do not start the services of this machine if no gateway answers")
    .option("--json", "print one JSON object (with --follow: one per line)")
    .addHelpText(
      "after",
      examples([
        'antiphon run "Fix the failing date parser" --patch fix.diff --check "npm test"',
        'antiphon run "daily brief" --connector work-items --topic infra',
        'antiphon run "Add a licence header" --repo ./app --command "./add-header.sh" --allow-unverified',
        'antiphon run "Speed up the parser" --agent claude --model-usd 2 --check "npm test"',
        'antiphon run "Speed up the parser" --agent claude,codex --parallel 2 --model-usd 2 --check "npm test"',
        'antiphon run "Refactor the parser" --repo . --check "make test" --agent command -- my-agent --fast',
        "antiphon run --plan plan.yaml --agent command -- my-agent --fast",
        "antiphon run --patch run_4f0c2k9s0x7d2m1q8z3a --grant test/parser.test.js",
        "antiphon run get run_4f0c2k9s0x7d2m1q8z3a",
      ]),
    )
    .action(async (words: string[], options: RunOptions) => {
      await run(context, words.join(" "), options);
    });
};

/** `--agent a --agent b` is `--agent a,b`: if only the last one counted, the others would be dropped in silence. */
function alsoNamed(name: string, before: string | undefined): string {
  return before === undefined ? name : `${before},${name}`;
}

async function run(context: CliContext, words: string, options: RunOptions): Promise<void> {
  // Both parse documents, which most runs name none of.
  const planSource = () => import("../runs/plan-source.ts");
  const namesRun = async (one: string | undefined): Promise<boolean> =>
    one !== undefined && (await planSource()).namesRun(one);
  const isTakenUp = words.trim() === "" && options.plan === undefined;
  if (isTakenUp && !(await namesRun(options.patch)))
    throw usage("the intent is empty", 'describe the goal in words: antiphon run "..."');
  const { loadFiles } = await import("../runs/run-files.ts");
  const { localProblem, repositoryOf } = await import("../runs/repository-place.ts");
  const { intentOf, readsConnectors } = await import("../runs/run-request.ts");
  const { placesOf } = await import("../agents/pack-places.ts");
  const flags: RunFlags = context.program === null ? options : { ...options, program: context.program };
  const isBrief = readsConnectors(flags);
  if (isBrief && flags.repo !== undefined)
    throw usage(
      "a run that reads connectors works on no repository",
      "name it with --project instead of --repo",
    );
  const startServices = async (): Promise<void> => {
    if (options.start) await (await import("../gateway/local-gateway.ts")).ensureGateway(context);
  };
  const takesChange = await namesRun(options.patch);
  if (takesChange || (await namesRun(options.plan))) await startServices();
  const past = isTakenUp ? await pastRun(context, options) : null;
  const place = flags.repo ?? past?.body.base.repo.path;
  const repoPath = isBrief ? (flags.project?.[0] ?? repositoryOf(undefined)) : repositoryOf(place);
  const problem = localProblem(context.config.gatewayUrl, repoPath, place);
  if (problem !== null) throw problem;
  const fromRun =
    takesChange && flags.patch !== undefined
      ? await (await import("../evidence/run-patches.ts")).onlyPatchOf(await context.gateway(), flags.patch)
      : null;
  const files = await loadFiles(flags, placesOf(context), fromRun);
  const plan =
    options.plan === undefined
      ? null
      : await (await planSource()).loadPlan(options.plan, () => context.gateway());
  const goal = past === null ? goalOf(words, plan) : past.body.intent.goal;
  const said = intentOf(goal, repoPath, flags, { ...files, plan });
  const intent =
    past === null
      ? said
      : (await import("../runs/taken-up.ts")).takenUp(past, said, flags.repo !== undefined);
  const intents = await racing(goal, repoPath, options, flags, { ...files, plan });
  await startServices();
  if (intents !== null) {
    const { reportRace } = await import("../runs/race-report.ts");
    return reportRace(context, { ...intents, goal, recording: files.recording, json: options.json === true });
  }
  const { startRun } = await import("../runs/start-run.ts");
  const { asFlag } = await import("../runs/option-refusal.ts");
  const runId = await startRun(await context.gateway(), intent, files.recording).catch((error: unknown) => {
    throw asFlag(Failure.from(error));
  });
  if (options.detach === true) return announce(context, runId, options.json === true);

  const interrupt = new AbortController(); // From here on Ctrl-C ends with the id of the run.
  const onInterrupt = (): void => interrupt.abort();
  process.once("SIGINT", onInterrupt);
  if (options.json !== true) {
    context.screen.out(`${runId}  ${basename(repoPath)}: ${goal}`);
    const note =
      isBrief || past !== null || flags.base !== undefined
        ? null
        : await (await import("../runs/left-out.ts")).leftOut(repoPath);
    if (note !== null) context.screen.out(context.screen.colours.dim(note));
  }
  const { watchedToItsEnd } = await import("../runs/watched-run.ts"); // The run is under way meanwhile.
  const shown = { json: options.json === true, logs: options.follow === true };
  await watchedToItsEnd(context, runId, shown, interrupt.signal, () =>
    process.removeListener("SIGINT", onInterrupt),
  );
}

/** The run that --patch names, whose change, goal and options are taken. */
async function pastRun(context: CliContext, { patch = "", parallel }: RunOptions): Promise<TakenUp> {
  if (parallel !== undefined)
    throw usage("--parallel needs an intent", "a change that is there is tried by one run");
  return (await import("../runs/taken-up.ts")).readTakenUp(await context.gateway(), patch);
}

/** The runs of a race; null: there is one run. */
async function racing(
  goal: string,
  repoPath: string,
  options: RunOptions,
  flags: RunFlags,
  files: RunFiles,
): Promise<Pick<Race, "name" | "intents"> | null> {
  if (options.parallel === undefined) return null;
  const { raceName, racersOf } = await import("../runs/race.ts");
  const { intentOf } = await import("../runs/run-request.ts");
  const many = racersOf(options.parallel, files.packs, options);
  const name = raceName();
  const intents = Array.from({ length: many }, (_, n) => {
    const pack = files.packs[n % Math.max(1, files.packs.length)];
    const { inputs, ...rest } = intentOf(goal, repoPath, flags, {
      ...files,
      packs: pack === undefined ? [] : [pack],
    });
    const { kind } = inputs["agent"] as { kind: string };
    return { agent: pack?.name ?? kind, intent: { ...rest, inputs: { ...inputs, race: name } } };
  });
  return { name, intents };
}

/** The words, else the goal of the plan. */
function goalOf(words: string, plan: PlanSource | null): string {
  if (words.trim() !== "") return words;
  if (plan?.goal != null) return plan.goal;
  throw usage("the plan names no goal", 'write "goal:" into it, or say it: antiphon run "..." --plan ...');
}

function announce({ screen }: CliContext, runId: string, json: boolean): void {
  if (json) return screen.json({ runId });
  screen.out(runId);
  screen.err(`watch it with: antiphon events ${runId}`);
}
