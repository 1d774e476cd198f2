/** The Associate's ports in the simulated world: trees are names and a change is one file; everything else is the product's code. */
import { BUCKETS } from "@antiphon/contracts";
import { openKv, sandboxClient, systemClock, uniqueId } from "../../../runtime/src/index.ts";
import type { Blobs, Bus, Logger } from "../../../runtime/src/index.ts";
import { evidenceStore, recordings } from "../../../services/associate/src/evidence/evidence-store.ts";
import type { BaseTrees, Overlays } from "../../../services/associate/src/ports.ts";
import type { SharedPorts } from "../../../services/associate/src/wiring.ts";

export interface AttemptWorld {
  bus: Bus;
  log: Logger;
  associate: string;
  files: Blobs;
  recorded: Blobs;
}

export function attemptPorts({ bus, log, associate, files, recorded }: AttemptWorld): SharedPorts {
  return {
    trees: simTrees,
    sandbox: sandboxClient(bus, { requester: associate }),
    overlays: simOverlays(files),
    evidence: evidenceStore(files, openKv(bus, BUCKETS.evidence)),
    recordings: recordings(recorded),
    compiled: { find: () => Promise.resolve(null), keep: () => Promise.resolve() },
    exportAgain: () => Promise.resolve(),
    clock: systemClock,
    newJobId: () => `job_${uniqueId()}`,
    patienceMs: 30_000,
    tools: new Map<string, readonly string[]>([["", []]]),
    log,
  };
}

const simTrees: BaseTrees = {
  ensure: () => Promise.resolve(),
  diff: (base, change) =>
    Promise.resolve({
      patch: change.files.map((file) => `${file.content.toString("utf8")} on ${base.tree}\n`).join(""),
      files: change.files.map((file) => file.path),
    }),
  check: () => [],
  apply: () => Promise.resolve({ files: [], deletions: [] }),
};

function simOverlays(files: Blobs): Overlays {
  return {
    pack: (changed) => files.put(null, Buffer.concat(changed.map((file) => file.content))),
    async unpack(overlay) {
      if (overlay === null) return [];
      return [{ path: "change.txt", mode: "100644", content: await files.get(overlay) }];
    },
  };
}
