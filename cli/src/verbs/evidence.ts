// antiphon evidence: reads or exports a run's evidence.
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

interface GetOptions {
  readonly json?: boolean;
  readonly verdict?: boolean;
}

export const addEvidence: AddVerb = (program, context) => {
  const evidence = program
    .command("evidence")
    .summary("read or export a run's evidence (diffs, check results, logs)");
  evidence
    .command("get")
    .summary("list the evidence bundles of a run, show one, or print one of its files")
    .argument("<runId>", "the id of the run", runId)
    .argument("[task]", "a task, such as T-001")
    .argument("[epoch]", "the number of an attempt: 1, 2, ...")
    .argument("[file]", "a file of the bundle, such as diff.patch; prints its bytes")
    .option("--verdict", "the verifier's bundle instead of the agent's own")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      examples([
        "antiphon evidence get run_4f0c2k9s0x7d2m1q8z3a",
        "antiphon evidence get run_4f0c2k9s0x7d2m1q8z3a T-001 1",
        "antiphon evidence get run_4f0c2k9s0x7d2m1q8z3a T-001 1 diff.patch | git apply --stat",
      ]),
    )
    .action(
      async (
        id: string,
        task: string | undefined,
        epoch: string | undefined,
        file: string | undefined,
        options: GetOptions,
      ) => {
        const { showBundles, showFile } = await import("../evidence/evidence-view.ts");
        if (file !== undefined)
          await showFile(context, {
            id,
            task: task ?? "",
            epoch: epoch ?? "",
            file,
            verdict: options.verdict === true,
          });
        else
          await showBundles(context, {
            id,
            task: task ?? null,
            epoch: epoch ?? null,
            json: options.json === true,
          });
      },
    );
  evidence
    .command("export")
    .summary("write a run's task contracts and evidence bundles to a directory")
    .argument("<runId>", "the id of the run", runId)
    .requiredOption("--out <dir>", "the directory; created if it does not exist")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon evidence export run_4f0c2k9s0x7d2m1q8z3a --out ./proof"]))
    .action(async (id: string, options: { out: string; json?: boolean }) => {
      const { exportEvidence } = await import("../evidence/evidence-export.ts");
      const result = await exportEvidence(await context.gateway(), id, options.out);
      if (options.json === true) return context.screen.json(result);
      context.screen.out(`${result.files.length} files written to ${result.out}`);
      for (const file of result.files) context.screen.out(`  ${file}`);
    });
};
