// antiphon serve --role <role>: runs one service in this process.
import { ROLES } from "@antiphon/contracts/roles";
import { Option } from "commander";
import { shareStateDir } from "../config.ts";
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { serveRole } from "../serve/serve-role.ts";

export const addServe: AddVerb = (program, context) => {
  program
    .command("serve")
    .summary("run one service in the foreground")
    .addOption(new Option("--role <role>", "the service to run").choices(ROLES).makeOptionMandatory())
    .option("--json", "no effect: services always log JSON lines on stderr")
    .addHelpText(
      "after",
      examples(["ANTIPHON_NATS_URL=nats://10.0.0.5:4222 antiphon serve --role associate"]),
    )
    .action(async (options: { role: string }) => {
      shareStateDir(context.config);
      await serveRole(options.role, context.bundle, false);
    });
};
