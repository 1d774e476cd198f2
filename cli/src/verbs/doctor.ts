// antiphon doctor: is everything here that a run needs?
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { plain } from "../screen.ts";

export const addDoctor: AddVerb = (program, context) => {
  program
    .command("doctor")
    .summary("check what a run needs, with a remedy for what is missing")
    .option("--json", "one JSON object on stdout")
    .addHelpText("after", examples(["antiphon doctor", "antiphon doctor --json"]))
    .action(async (options: { json?: boolean }) => {
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
    });
};
