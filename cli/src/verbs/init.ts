// antiphon init: tries the repository's checks on its last commit, and writes an antiphon.yaml that says what passed.
import type { CheckRequest } from "@antiphon/contracts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { Failure } from "../failure.ts";
import type { Findings } from "../checks/project-file.ts";

interface InitFlags {
  readonly repo?: string;
  readonly image?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly start: boolean;
  readonly json?: boolean;
}

export const addInit: AddVerb = (program, context) => {
  program
    .command("init")
    .summary("try the repository's checks on the last commit, and write antiphon.yaml")
    .option("--repo <path>", "the git repository (default: the one around the current directory)")
    .option("--image <ref>", "an allowed sandbox image; `default` is the standard image")
    .option("--dry-run", "print the file instead of writing it")
    .option("--force", "replace an antiphon.yaml that exists")
    .option("--no-start", "do not start the services of this machine if no gateway answers")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon init", "antiphon init --repo ./app --dry-run"]))
    .action(async (flags: InitFlags) => {
      await init(context, flags);
    });
};

async function init(context: CliContext, flags: InitFlags): Promise<void> {
  const { repositoryOf } = await import("../runs/repository-place.ts");
  const { headOf } = await import("../checks/work-tree-diff.ts");
  const files = await import("../checks/repository-files.ts");
  const { nothingSet, passed, projectFileText, ranAndFailed } = await import("../checks/project-file.ts");
  const { quoted } = await import("../checks/command-line.ts");
  const { lacking } = await import("../checks/unstartable.ts");
  const { top, head } = await headOf(repositoryOf(flags.repo));
  const there = files.projectFileOf(top);
  if (there !== null && flags.force !== true && flags.dryRun !== true)
    throw new Failure("ANT_PROJECT_FILE_EXISTS", `${there} exists already`);
  if (flags.start) await (await import("../gateway/local-gateway.ts")).ensureGateway(context);
  const findings = await tryChecks(context, flags, { top, head });
  const text = projectFileText(findings);
  const written = flags.dryRun === true ? null : files.writeProjectFile(top, text);
  const good = findings.found.some(passed);
  if (!good) context.setExitCode(1);
  if (flags.json === true) return context.screen.json({ ...findings, written, text });
  if (written === null) return context.screen.document(text);
  context.screen.out(`${written} is written; commit it, so that runs read it`);
  if (good) return;
  context.screen.err(nothingSet(findings));
  const [lacks] = findings.found.flatMap((one) => lacking(one) ?? []);
  if (lacks !== undefined) context.screen.err(`${lacks.message}. ${lacks.remedy}`);
  const failing = findings.found.find(ranAndFailed);
  if (failing !== undefined)
    context.screen.err(
      `if that failure is what to fix: antiphon run "<intent>" --check ${quoted(failing.command)}`,
    );
}

/**
 * First what a run would find by itself; if that does not pass, the other commands that look like tests, until one passes;
 * then the repository's other commands that look like checks.
 */
async function tryChecks(
  context: CliContext,
  { image, json }: InitFlags,
  { top, head }: { top: string; head: string },
): Promise<Findings> {
  const { checkInCleanRoom, checkLines } = await import("../checks/clean-room.ts");
  const { checkTextsOf } = await import("../checks/repository-files.ts");
  const { furtherCommands, passed } = await import("../checks/project-file.ts");
  const base = { repo: top, ...(image === undefined ? {} : { image }) };
  const attempt = async (request: CheckRequest) => {
    const report = await checkInCleanRoom(context, request, json === true);
    if (json !== true) for (const line of checkLines(report, context.screen)) context.screen.err(line);
    return report;
  };
  const first = await attempt(base);
  const found = [...first.checks];
  for (const command of first.others ?? []) {
    if (found.some(passed)) break;
    found.push(...(await attempt({ ...base, checks: [command] })).checks);
  }
  const { image: used } = first;
  const commands = furtherCommands(
    await checkTextsOf(top, head),
    found.map(({ command }) => command),
  );
  const further = commands.length === 0 ? [] : (await attempt({ ...base, checks: commands })).checks;
  return { commit: head, found, further, image: image === undefined ? null : used };
}
