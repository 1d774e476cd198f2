/** The process of the Associate; wiring.ts builds it. */
import { runService } from "@antiphon/runtime";
import type { Role, ServiceContext } from "@antiphon/runtime";
import { startLauncher, sweepScratch, TreeCache } from "@antiphon/git";
import { readAssociateConfig } from "./config.ts";
import { startAssociate } from "./wiring.ts";

export async function start({ bus, log, signal, node }: ServiceContext): Promise<Role> {
  const config = readAssociateConfig();
  await sweepScratch(new Date());
  await startLauncher().catch((error: unknown) => {
    log.warn({ err: error }, "each git process is a copy of this one first, which takes longer");
  });
  await new TreeCache(config.cacheDir).sweep().catch((error: unknown) => {
    log.warn({ err: error }, "the cache of base trees is not swept; the next tree that arrives tries again");
  });
  const consumption = await startAssociate(
    { bus, log, signal },
    {
      associate: config.associate ?? node,
      slots: config.slots,
      cacheDir: config.cacheDir,
      claimsDir: config.claimsDir,
      sandboxPatienceMs: config.sandboxPatienceMs,
    },
  );
  return { drain: () => consumption.drain() };
}

export async function main(): Promise<void> {
  await runService({
    name: "associate",
    description: "Works on tasks in sandboxes and reports the results with evidence.",
    start,
  });
}
