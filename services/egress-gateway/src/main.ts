/** The egress gateway as a process. wiring.ts puts it together. */
import { runService } from "@antiphon/runtime";
import { readEgressConfig } from "./config.ts";
import { startEgress } from "./wiring.ts";

export async function main(): Promise<void> {
  await runService({
    name: "egress",
    description: "The only way out of a sandbox: judged, metered, recorded, with credentials added outside",
    start: (context) => Promise.resolve(startEgress(context, readEgressConfig())),
  });
}
