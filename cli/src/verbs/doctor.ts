// antiphon doctor: is everything here that a run needs? And is everything that was written still there?
import { examples, runId } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import { plain } from "../screen.ts";

interface DoctorOptions {
  readonly json?: boolean;
  readonly journal?: string | true;
}

/** Exit code of a check that could not be made. */
const NOT_CHECKED = 2;

export const addDoctor: AddVerb = (program, context) => {
  program
    .command("doctor")
    .summary("check what a run needs, or with --journal what was recorded")
    .option(
      "--journal [runId]",
      "check the journal, whole or one run of it: 0 whole, 1 faults, 2 could not look",
      (text) => runId(text),
    )
    .option("--json", "one JSON object on stdout")
    .addHelpText(
      "after",
      examples([
        "antiphon doctor",
        "antiphon doctor --journal",
        "antiphon doctor --journal run_4f0c2k9s0x7d2m1q8z3a --json",
      ]),
    )
    .action(async (options: DoctorOptions) => {
      if (options.journal !== undefined) await journal(context, options);
      else await surroundings(context, options);
    });
};

async function surroundings(context: CliContext, options: DoctorOptions): Promise<void> {
  const { diagnose } = await import("../diagnosis.ts");
  const findings = await diagnose(context.config, context.root);
  const healthy = findings.every((finding) => finding.state !== "problem");
  if (!healthy) context.setExitCode(1);
  if (options.json === true) return context.screen.json({ ok: healthy, findings });
  const c = context.screen.colours;
  const marks = { ok: c.green("ok     "), off: c.dim("off    "), problem: c.red("problem") };
  for (const { name, state, detail, remedy } of findings) {
    context.screen.out(`${marks[state]}  ${name.padEnd(12)}  ${plain(detail)}`);
    if (remedy !== null) context.screen.out(`${" ".repeat(23)}${c.dim("remedy:")} ${remedy}`);
  }
}

async function journal(context: CliContext, options: DoctorOptions): Promise<void> {
  const { checkJournal } = await import("../journal-check.ts");
  const { reportLines } = await import("../journal-report.ts");
  const { screen, config } = context;
  const report = await checkJournal(await context.gateway(), {
    runId: typeof options.journal === "string" ? options.journal : null,
    trusted: config.directorKeys,
    progress: (done, of, faults) => screen.status(`${done} of ${of} runs checked, ${faults} faults`),
  }).catch((error: unknown) => {
    const { code, message, remedy, data, cause } = Failure.from(error);
    throw new Failure(code, message, { remedy, data, cause, exitCode: NOT_CHECKED });
  });
  screen.status(null);
  if (!report.ok) context.setExitCode(1);
  if (options.json === true) return screen.json(report);
  for (const line of reportLines(report, screen.colours)) screen.out(line);
}
