/** The process of the egress gateway; wiring.ts builds it. */
import { runService } from "@antiphon/runtime";
import { startEgress } from "./wiring.ts";

export async function main(): Promise<void> {
  await runService({
    name: "egress",
    description:
      "Network egress for sandboxes: checks, meters and records each request, and adds credentials",
    start: (context) => Promise.resolve(startEgress(context)),
  });
}
