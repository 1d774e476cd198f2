// antiphon version: what is installed here, for a report of a fault.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isCheckout } from "../config.ts";
import { examples } from "../context.ts";
import type { AddVerb, CliContext } from "../context.ts";
import { table } from "../screen/table.ts";

export const addVersion: AddVerb = (program, context) => {
  program
    .command("version")
    .summary("print the version, the commit it was made from, Node's version and the platform")
    .option("--json", "print one JSON object")
    .addHelpText("after", examples(["antiphon version", "antiphon version --json"]))
    .action((options: { json?: boolean }) => {
      const { version, root } = context;
      const platform = `${process.platform} ${process.arch}`;
      const commit = commitOf(context);
      const found = { version, commit, node: process.versions.node, platform, root };
      if (options.json === true) return context.screen.json(found);
      for (const row of table(Object.entries(found).map(([name, value]) => [name, value ?? "unknown"])))
        context.screen.out(row);
    });
};

/** A packed bundle names its commit; a checkout asks git. Null: neither knows. */
function commitOf({ root, bundle }: CliContext): string | null {
  const file = join(bundle, "commit.json");
  if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as { commit: string | null }).commit;
  if (!isCheckout(root)) return null;
  try {
    const args = ["-C", root, "rev-parse", "HEAD"];
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return null; // The sources were copied without their history, or there is no git.
  }
}
