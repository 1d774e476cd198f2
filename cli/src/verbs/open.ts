// antiphon open [runId]: opens the page in a browser, and prints its address.
import { spawn } from "node:child_process";
import { examples, runId } from "../context.ts";
import type { AddVerb } from "../context.ts";

/** The program that opens an address, by platform. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  linux: ["xdg-open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

export const addOpen: AddVerb = (program, context) => {
  program
    .command("open")
    .summary("open the page of the gateway, or of one run, in a browser")
    .argument("[runId]", "the id of a run", runId)
    .option("--print", "only print the address")
    .option("--json", "print one JSON object, and open nothing")
    .addHelpText("after", examples(["antiphon open", "antiphon open run_4f0c2k9s0x7d2m1q8z3a --print"]))
    .action(async (id: string | undefined, options: { print?: boolean; json?: boolean }) => {
      const gateway = await context.gateway();
      if (id !== undefined) await gateway.get("/runs/{id}", { id }); // A run that does not exist has no page.
      const url = `${gateway.url.replace(/\/$/, "")}/${id === undefined ? "" : `#/runs/${id}`}`;
      if (options.json === true) return context.screen.json({ url });
      context.screen.out(url);
      if (options.print === true || !context.screen.live) return;
      if (!(await opened(url))) context.screen.err("no browser could be started; open the address yourself");
    });
};

/** False: there is no such program. It goes on without us. */
function opened(url: string): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? [];
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
