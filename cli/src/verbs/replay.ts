// antiphon replay <runId>: carries out the attempts of a run once more, with the recorded answers of its model calls.
import { collect, examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";

interface ReplayFlags {
  readonly attempt?: string[];
  readonly image?: string;
  readonly json?: boolean;
}

export const addReplay: AddVerb = (program, context) => {
  program
    .command("replay")
    .summary("carry out a run's attempts once more, from the record of its model calls, and compare")
    .description(
      "Carries out each reported attempt of the run in a fresh sandbox. Its commands really run; the answers of its model\n" +
        "calls come from the evidence, nothing else leaves the sandbox, and no token is spent. Prints whether the diff is the\n" +
        "same, byte for byte, or else the first step that differs. Nothing is recorded, and no branch moves.",
    )
    .argument("<runId>", "the id of the run", runId)
    .option("--attempt <task:n>", "only this attempt, such as T-001:2 (repeatable)", collect)
    .option(
      "--image <ref>",
      "in this allowed sandbox image instead of the run's; `default` is the standard image",
    )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `${examples([
        "antiphon replay run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon replay run_4f0c2k9s0x7d2m1q8z3a --attempt T-001:2 --json",
        "antiphon replay run_4f0c2k9s0x7d2m1q8z3a --image python-3.13:1",
      ])}\nExit codes: 0 all diffs are the same, 1 one differs or an attempt has no record.\n`,
    )
    .action(async (id: string, flags: ReplayFlags) => {
      await replay(context, id, flags);
    });
};

async function replay(context: CliContext, id: string, flags: ReplayFlags): Promise<void> {
  const { attemptsOf, chosenFrom, replayed, replayLine } = await import("../runs/replay.ts");
  const gateway = await context.gateway();
  const attempts = chosenFrom(await attemptsOf(gateway, id), flags.attempt ?? []);
  const { screen } = context;
  const reports = [];
  for (const attempt of attempts) {
    screen.status(`replaying attempt ${attempt.epoch} of ${attempt.task}`);
    const report = await replayed(gateway, id, attempt, flags.image).finally(() => screen.status(null));
    reports.push(report);
    if (!report.same) context.setExitCode(1);
    if (flags.json !== true) screen.out(replayLine(report, screen.colours));
  }
  if (flags.json === true) screen.json({ runId: id, same: reports.every(({ same }) => same), reports });
}
