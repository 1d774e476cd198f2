// antiphon check: runs the checks on the work tree as it is, in a clean room and without a run.
import type { CheckRequest } from "@antiphon/contracts";
import { collect, examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure, usage } from "../failure.ts";

interface CheckFlags {
  readonly repo?: string;
  readonly check?: string[];
  readonly image?: string;
  readonly timeBudget?: string;
  readonly head?: boolean;
  readonly start: boolean;
  readonly json?: boolean;
}

export const addCheck: AddVerb = (program, context) => {
  program
    .command("check")
    .summary("run the checks on the work tree as it is now, in a clean room and without a run")
    .description(
      "Runs the repository's checks where a change of Antiphon is judged: the last commit and the changes of the work tree,\n" +
        "ignored files left out, in a fresh sandbox without a network. Nothing is recorded, and no branch moves.",
    )
    .option("--repo <path>", "the git repository (default: the one around the current directory)")
    .option("--check <cmd>", "a command to run (repeatable); auto-detected if omitted", collect)
    .option("--head", "check the last commit, without the changes of the work tree")
    .option("--image <ref>", "an allowed sandbox image; `default` is the standard image")
    .option("--time-budget <seconds>", "time limit of all checks together (default 300)")
    .option("--no-start", "do not start the services of this machine if no gateway answers")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples(["antiphon check", "antiphon check -- npm test", 'antiphon check --check "make test" --head']),
    )
    .action(async (flags: CheckFlags) => {
      await check(context, flags);
    });
};

async function check(context: CliContext, flags: CheckFlags): Promise<void> {
  const { repositoryOf } = await import("../runs/repository-place.ts");
  const { workTreeDiff } = await import("../checks/work-tree-diff.ts");
  const { checkInCleanRoom, checkLines } = await import("../checks/clean-room.ts");
  const { unstartable } = await import("../checks/unstartable.ts");
  const { commandLine } = await import("../checks/command-line.ts");
  const { checksOfWorkTree } = await import("../checks/repository-files.ts");
  const { screen } = context;
  const budget = flags.timeBudget === undefined ? {} : { time_budget_s: seconds(flags.timeBudget) };
  if (context.program?.length === 0) throw usage("no command follows --", "antiphon check -- <command>");
  const own = context.program === null ? [] : [commandLine(context.program)];
  const { top, head, patch, files } = await workTreeDiff(repositoryOf(flags.repo));
  const withChange = flags.head !== true && patch !== null;
  const named = [...(flags.check ?? []), ...own];
  const checks = named.length === 0 && withChange ? (checksOfWorkTree(top) ?? []) : named;
  const request: CheckRequest = {
    repo: top,
    ...(withChange ? { patch } : {}),
    ...(checks.length === 0 ? {} : { checks }),
    ...(flags.image === undefined ? {} : { image: flags.image }),
    ...budget,
  };
  if (flags.start) await (await import("../gateway/local-gateway.ts")).ensureGateway(context);
  const report = await checkInCleanRoom(context, request, flags.json === true);
  if (!report.passed) context.setExitCode(1);
  if (flags.json === true) return screen.json({ ...report, files: withChange ? files : 0 });
  if (report.checks.length === 0)
    throw new Failure("ANT_VERIFY_NO_CHECK", "no check was named, and none was found in the repository", {
      remedy: "name one: antiphon check -- <command>, or write it into antiphon.yaml (antiphon init)",
      exitCode: 1,
    });
  for (const line of checkLines(report, screen)) screen.out(line);
  const what = withChange ? ` with ${files} changed ${files === 1 ? "file" : "files"}` : "";
  const failed = report.checks.filter(({ exitCode }) => exitCode !== 0).length;
  const words = failed === 0 ? "passed" : `${failed} of ${report.checks.length} failed`;
  screen.out(screen.colours.dim(`${words} in the clean room: ${head.slice(0, 10)}${what}`));
  const failure = unstartable(report);
  if (failure !== null) throw failure;
}

function seconds(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw usage(`--time-budget takes a number of seconds, not ${JSON.stringify(text)}`);
}
