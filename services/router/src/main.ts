/** The Router as a process. */
import { runService } from "@antiphon/runtime";
import type { Role, ServiceContext } from "@antiphon/runtime";
import { readRouterConfig } from "./config.ts";
import { startRouter } from "./wiring.ts";

export function start({ bus, log, signal }: ServiceContext): Promise<Role> {
  const { slots, model } = readRouterConfig();
  const consumption = startRouter({ bus, log, signal, model }, slots);
  return Promise.resolve({ drain: () => consumption.drain() });
}

export async function main(): Promise<void> {
  await runService({ name: "router", description: "Classifies intents and plans their tasks.", start });
}
