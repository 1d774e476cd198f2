/** The egress gateway as a process: the only file that wires it to the world. */
import { runService } from "@antiphon/runtime";
import { readEgressConfig } from "./config.ts";
import { startEgress } from "./service.ts";

export async function main(): Promise<void> {
  await runService({
    name: "egress",
    description: "The only way out of a sandbox: judged, metered, recorded, with credentials added outside",
    start: (context) => Promise.resolve(startEgress(context, readEgressConfig())),
  });
}
