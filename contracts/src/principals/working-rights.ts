/** The rights of the services that are near to untrusted code. */
import { BUCKETS } from "../topology/topology.ts";
import {
  api,
  ask,
  calls,
  durability,
  readsFiles,
  readsKv,
  records,
  writesFiles,
  type Places,
} from "./asks.ts";
import type { Rights } from "./principals.ts";

export function associate(places: Places): Rights {
  return {
    asks: [
      ...records("claim", "result"),
      ask("antiphon.v1.dlq.associate.>"),
      ask("antiphon.v1.log.*.*.progress"),
      ask(`$KV.${BUCKETS.evidence}.*.*.*`), // A verdict's manifest has one token more.
      ...readsKv(BUCKETS.evidence, BUCKETS.compiled),
      ...writesFiles(BUCKETS.evidenceFiles),
      ask(`$KV.${BUCKETS.compiled}.*`),
      ...readsFiles(BUCKETS.repos, BUCKETS.recordings),
      ...places.journal,
      ...places.consumes("associate"),
      calls("sandbox.run", "long"),
      calls("sandbox.job.*"),
      calls("repo.export", "long"),
      calls("attempt.held.*"),
      durability,
    ],
    hears: ["antiphon.v1.ctl.*"],
    serves: ["antiphon.v1.rpc.attempt.replay", "antiphon.v1.rpc.attempt.held.*"],
    replies: "received",
  };
}

export function sandboxRunner(places: Places): Rights {
  return {
    asks: [
      ask("antiphon.v1.log.*.*.*"),
      ...readsFiles(BUCKETS.repos),
      ...writesFiles(BUCKETS.evidenceFiles, BUCKETS.layers),
      ...readsKv(BUCKETS.environments),
      ask(`$KV.${BUCKETS.environments}.*`),
      // A record that it gives up is removed with its history; it may write each of them anyway.
      ask(`$JS.API.STREAM.PURGE.KV_${BUCKETS.environments}`),
      ask(`$JS.API.STREAM.PURGE.OBJ_${BUCKETS.layers}`), // Environments that nobody needs any more.
      ...places.journal, // It asks whether the attempts of its sandboxes are over.
      calls("egress.open"),
      calls("egress.close.*"),
      durability,
    ],
    hears: [],
    serves: ["run", "images", "job.*"].map((name) => `antiphon.v1.rpc.sandbox.${name}`),
    replies: "received",
  };
}

export function egress(places: Places): Rights {
  return {
    asks: [
      ...readsKv(BUCKETS.budgets),
      ask(`$KV.${BUCKETS.budgets}.*`),
      ask(`$KV.${BUCKETS.budgets}.*.*.*`), // The recordings of an attempt's calls.
      ...writesFiles(BUCKETS.evidenceFiles, BUCKETS.checkpoints),
      ...places.journals.map((stream) => api(`STREAM.INFO.${stream}`)), // Tells the number of partitions.
      durability,
    ],
    hears: [],
    serves: [
      "antiphon.v1.rpc.egress.models",
      "antiphon.v1.rpc.egress.open",
      "antiphon.v1.rpc.egress.close.*",
    ],
    replies: "received",
  };
}
