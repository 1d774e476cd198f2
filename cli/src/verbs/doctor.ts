// antiphon doctor: checks the machine for everything a run needs; with --journal, checks the recorded data.
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import type { CheckedJournal } from "../journal/journal-check.ts";
import type { RebuildReport } from "../journal/journal-rebuild.ts";
import { Failure } from "../failure.ts";

interface DoctorOptions {
  readonly json?: boolean;
  readonly journal?: string | true;
  readonly rebuild?: boolean;
}

/** Exit code of a check that failed to run. */
const NOT_CHECKED = 2;

export const addDoctor: AddVerb = (program, context) => {
  program
    .command("doctor")
    .summary("check this machine for everything a run needs, or with --journal the recorded data")
    .option(
      "--journal [runId]",
      "check the journal, or one run in it; exit code 0: intact, 1: faults found, 2: the check failed to run",
      (text) => runId(text),
    )
    .option(
      "--rebuild",
      "with --journal: rewrite documents in ANT_RUNS and ANT_CONTRACTS that are missing, stale or wrong",
    )
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon doctor",
        "antiphon doctor --journal",
        "antiphon doctor --journal run_4f0c2k9s0x7d2m1q8z3a --json",
        "antiphon doctor --journal --rebuild",
      ]),
    )
    .action(async (options: DoctorOptions) => {
      if (options.journal === undefined && options.rebuild === true)
        throw new Failure("ANT_USAGE", "--rebuild requires --journal", {
          remedy: "antiphon doctor --journal [runId] --rebuild",
        });
      if (options.journal !== undefined) await journal(context, options);
      else await surroundings(context, options);
    });
};

async function surroundings(context: CliContext, options: DoctorOptions): Promise<void> {
  const { diagnose } = await import("../doctor/diagnosis.ts");
  const findings = await diagnose(context.config);
  const healthy = findings.every((finding) => finding.state !== "problem");
  if (!healthy) context.setExitCode(1);
  if (options.json === true) return context.screen.json({ ok: healthy, findings });
  const c = context.screen.colours;
  const marks = { ok: c.green("ok     "), off: c.dim("off    "), problem: c.red("problem") };
  for (const { name, state, detail, remedy } of findings) {
    context.screen.out(`${marks[state]}  ${name.padEnd(12)}  ${detail}`);
    if (remedy !== null) context.screen.out(`${" ".repeat(23)}${c.dim("remedy:")} ${remedy}`);
  }
}

async function journal(context: CliContext, options: DoctorOptions): Promise<void> {
  const { reportLines, rebuildLines } = await import("../journal/journal-report.ts");
  const { screen } = context;
  let checked = await check(context, options);
  const rebuild = options.rebuild === true ? await notDone(rebuildAfter(context, checked)) : null;
  // The rebuild may have put back the missing records, so the journal is checked again.
  if (rebuild !== null && rebuild.restored > 0) checked = await check(context, options);
  screen.status(null);
  const { report } = checked;
  if (!report.ok || (rebuild !== null && rebuild.left.length > 0)) context.setExitCode(1);
  if (options.json === true) return screen.json(rebuild === null ? report : { ...report, rebuild });
  const lines = rebuild === null ? [] : rebuildLines(rebuild, screen.colours);
  for (const line of [...reportLines(report, screen.colours), ...lines]) screen.out(line);
}

async function check(context: CliContext, options: DoctorOptions): Promise<CheckedJournal> {
  const { checkJournal } = await import("../journal/journal-check.ts");
  return notDone(
    checkJournal(await context.gateway(), {
      runId: typeof options.journal === "string" ? options.journal : null,
      trusted: context.config.directorKeys,
      progress: (done, of, faults) =>
        context.screen.status(`${done} of ${of} runs checked, ${faults} faults`),
    }),
  );
}

async function rebuildAfter(context: CliContext, checked: CheckedJournal): Promise<RebuildReport> {
  const { rebuildRuns } = await import("../journal/journal-rebuild.ts");
  return rebuildRuns(await context.gateway(), checked, (done, of) =>
    context.screen.status(`${done} of ${of} runs rebuilt`),
  );
}

function notDone<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const { code, message, remedy, data, cause } = Failure.from(error);
    throw new Failure(code, message, { remedy, data, cause, exitCode: NOT_CHECKED });
  });
}
