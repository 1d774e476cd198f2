// antiphon nats bootstrap: NATS users for a deployment, one for each service and two for people.
import { resolve } from "node:path";
import { limits } from "@antiphon/contracts/limits";
import { examples } from "../context.ts";
import type { AddVerb } from "../context.ts";
import { usage } from "../failure.ts";

export const addNats: AddVerb = (program, context) => {
  program
    .command("nats")
    .summary("create NATS users with the rights of each service")
    .command("bootstrap")
    .summary("write the seeds of all NATS users and the server's accounts.conf; existing seeds are kept")
    .argument("<directory>", "created if it does not exist")
    .option("--partitions <n>", "partitions of the journal (ANTIPHON_JOURNAL_PARTITIONS)", "1")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon nats bootstrap nats-users"]))
    .action(async (directory: string, options: { partitions: string; json?: boolean }) => {
      const partitions = Number(options.partitions);
      if (!Number.isInteger(partitions) || partitions < 1 || partitions > limits.journalPartitions)
        throw usage(`--partitions is a whole number from 1 to ${limits.journalPartitions}`);
      const { bootstrapUsers } = await import("../nats/nats-users.ts");
      const { keys, made } = bootstrapUsers(resolve(directory), partitions);
      if (options.json === true) return context.screen.json({ directory: resolve(directory), keys, made });
      const kept = Object.keys(keys).length - made.length;
      context.screen.out(`${made.length} created, ${kept} kept in ${directory}`);
      context.screen.out(`include ${directory}/accounts.conf in the nats-server's configuration`);
      context.screen.out("give each service the file of its own name as ANTIPHON_NATS_CREDS, and no other");
    });
};
