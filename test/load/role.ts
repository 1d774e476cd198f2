/**
 * One service process of the load tool: the services' own classes, started by the runtime as in production, over the
 * ports of in-process-ports.ts. `node role.mjs <router|director|associate|gateway> <slots>`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { BUCKETS } from "@antiphon/contracts";
import { openBlobs, openKv, openSigningKey, pinOwnKey, runService } from "@antiphon/runtime";
import type { Role, ServiceContext } from "@antiphon/runtime";
import { readAssociateConfig } from "../../services/associate/src/config.ts";
import { associateOver, portsOf } from "../../services/associate/src/wiring.ts";
import { VerdictEvidence } from "../../services/director/src/verification/verdict-evidence.ts";
import { readDirectorConfig } from "../../services/director/src/config.ts";
import { directOver } from "../../services/director/src/directing.ts";
import { main as gateway } from "../../services/gateway/src/main.ts";
import { startRouter } from "../../services/router/src/wiring.ts";
import { inProcessRepository, inProcessRoom, inProcessSandbox, inProcessTrees } from "./in-process-ports.ts";

const [role = "", slotsText = "64"] = process.argv.slice(2);
const slots = Number(slotsText);

const starts: Record<string, (context: ServiceContext) => Promise<Role>> = {
  router: ({ bus, log, signal }) => {
    const consumption = startRouter({ bus, log, signal }, slots);
    return Promise.resolve({ drain: () => consumption.drain() });
  },
  director: async (context) => {
    const { bus, node, log } = context;
    const config = readDirectorConfig();
    const key = openSigningKey(config.keyFile);
    const { trustedKeysFile } = context.config;
    if (trustedKeysFile !== null) await pinOwnKey(bus, trustedKeysFile, key, log);
    const evidence = new VerdictEvidence(
      openKv(bus, BUCKETS.evidence),
      openBlobs(bus, BUCKETS.evidenceFiles),
      node,
    );
    const ports = { repository: inProcessRepository(), room: inProcessRoom(), evidence };
    return directOver(context, { ...config, slots }, ports, key);
  },
  associate: async (context) => {
    const { claimsDir } = readAssociateConfig();
    const settings = { associate: context.node, slots, cacheDir: "", claimsDir, sandboxPatienceMs: 30_000 };
    const ports = { ...portsOf(context, settings), sandbox: inProcessSandbox(), trees: inProcessTrees() };
    const consumption = await associateOver(context, settings, ports, openSigningKey(null));
    return { drain: () => consumption.drain() };
  },
};

// Told to whoever measures: what is in use after a collection of garbage.
process.on("message", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  process.send?.(process.memoryUsage().heapUsed / 1024 / 1024);
});

const start = starts[role];
if (role === "gateway") await gateway();
else if (start === undefined) throw new Error(`no role ${role}`);
else {
  const description = `The ${role}, under load.`;
  await runService({ name: role, description, makesTrust: role === "director", start });
}
