/** The naive twin as a system under test: an API process and workers, on a server with its default sync. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { decode, type JournalRecord, type StoredRecord } from "@antiphon/contracts";
import { singleBroker } from "../rig/broker.ts";
import { freePort } from "../rig/free-port.ts";
import { readGit } from "../rig/journal-witness.ts";
import type { System, SystemOptions } from "../rig/system.ts";
import { namespaceFor, Victim } from "../rig/victim.ts";
import { AUDIT, makeStreams, openStore, type Store } from "./store.ts";
import { builtProgram } from "../../support/built-program.ts";

const DRAIN_MS = 5_000;
const READY_MS = 120_000;
const OVER: ReadonlySet<string> = new Set(["succeeded", "failed", "canceled"]);

const program = (file: string): Promise<string> => builtProgram(new URL(file, import.meta.url));

export async function startNaive(options: SystemOptions): Promise<System> {
  const broker = await singleBroker({
    sync: "lazy",
    ...(options.power === null ? {} : { storeDir: join(options.power.path, "store") }),
  });
  const store = await openStore(broker.url, "naive-rig");
  await makeStreams(store.bus);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const victims: Victim[] = [];
  for (const [role, count] of Object.entries(options.sizes)) {
    for (let index = 1; index <= count; index += 1) {
      const name = `${role}-${index}`;
      const args = [await program(`./${role}.ts`), broker.url, role === "api" ? String(port) : name];
      const namespace = await namespaceFor(broker.ports, options.partitionable.includes(role));
      victims.push(
        new Victim({ name, role, args, env: {}, namespace, logFile: join(options.dir, `${name}.log`) }),
      );
    }
  }
  for (const victim of victims) victim.start();
  await answers(url);
  return {
    name: "naive",
    urls: [url],
    victims,
    broker,
    disk: null,
    engine: null,
    power: options.power,
    judgedBy: ["I1", "I2", "I3", "I4", "I7", "I11", "I12"], // It has no machine, no evidence, no container.
    ended: () => endedRuns(store),
    async drain() {
      await Promise.all(victims.map((victim) => victim.retire(DRAIN_MS)));
      return [];
    },
    async collect() {
      const records = await auditTrail(store);
      const witnessed = { git: true, evidence: false, engine: false, faults: true };
      return {
        records,
        ...readGit(options.repos),
        patched: [],
        blobs: [],
        manifests: [],
        containers: [],
        witnessed,
      };
    },
    async remove() {
      await store.bus.close();
      await broker.close();
      for (const { spec } of victims) await spec.namespace?.remove();
    },
  };
}

async function answers(url: string): Promise<void> {
  const until = Date.now() + READY_MS;
  while ((await fetch(`${url}/runs/run_0`).catch(() => null)) === null) {
    if (Date.now() > until) throw new Error("the naive API does not answer");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function endedRuns({ runs }: Store): Promise<Set<string>> {
  const ids = await runs.keys();
  const entries = await Promise.all(
    ids.map(async (id) => ({ id, entry: await runs.get<{ status: string }>(id) })),
  );
  return new Set(entries.filter(({ entry }) => OVER.has(entry?.value.status ?? "")).map(({ id }) => id));
}

/** The audit trail in the form of the journal, so that the same checker reads it; a run's intent counts once. */
async function auditTrail({ bus }: Store): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  const begun = new Set<string>();
  for (let seq = 1; ;) {
    const page = await bus.reader.next(AUDIT, { filter: "naive.audit.*", seq, batch: 512 });
    for (const message of page.messages) {
      const digest = createHash("sha256").update(message.data).digest("base64url");
      const record = decode(message.data) as JournalRecord;
      if (record.type === "intent" && begun.has(record.runId)) continue;
      if (record.type === "intent") begun.add(record.runId);
      records.push({ ...record, seq: message.seq, subject: message.subject, digest, at: message.at });
    }
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return records;
    seq = last.seq + 1;
  }
}
