import { runService } from "@antiphon/runtime";
import type { Role, ServiceContext } from "@antiphon/runtime";
import { readGatewayConfig } from "./config.ts";
import { start } from "./wiring.ts";

/** Runs the gateway until it is told to stop. */
export async function main(): Promise<void> {
  const config = readGatewayConfig(); // An invalid setting is reported before anything connects.
  const startHere = (context: ServiceContext): Promise<Role> => start(context, config);
  await runService({ name: "gateway", description: "HTTP and server-sent events", start: startHere });
}
