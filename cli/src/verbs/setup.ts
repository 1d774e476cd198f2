// antiphon setup: fetches what a package cannot hold, such as nats-server and the sandbox image.
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";

interface SetupFlags {
  readonly withNatsCli?: boolean;
  readonly withBubblewrap?: boolean;
  readonly json?: boolean;
}

export const addSetup: AddVerb = (program, context) => {
  program
    .command("setup")
    .summary("fetch or find what runs need: git, nats-server, a container engine, the sandbox image")
    .option("--with-nats-cli", "also the stock nats command line (built with Go)")
    .option("--with-bubblewrap", "also bubblewrap, for sandboxes without an engine (Debian/Ubuntu as root)")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon setup", "antiphon setup --with-nats-cli --json"]))
    .action(async ({ withNatsCli, withBubblewrap, json }: SetupFlags) => {
      const { runSetup } = await import("../doctor/setup-program.ts");
      const options = [
        ...(withNatsCli === true ? ["--with-nats-cli"] : []),
        ...(withBubblewrap === true ? ["--with-bubblewrap"] : []),
      ];
      context.setExitCode(await runSetup(context, options, json === true));
    });
};
