/** The rights of the services that decide, and of the operator. */
import { BUCKETS, TIMER_CONSUMER, TIMER_STREAM } from "../topology/topology.ts";
import {
  api,
  ask,
  calls,
  durability,
  micro,
  pings,
  reads,
  readsFiles,
  readsKv,
  records,
  writesFiles,
  type Places,
} from "./asks.ts";
import type { Rights } from "./principals.ts";

export function gateway(places: Places): Rights {
  return {
    asks: [
      ...records("intent", "cancel", "input", "approval", "control", "message", "requeue"),
      ...places.journal,
      ...["ANT_SESSIONS", "ANT_DLQ"].flatMap(reads),
      ...readsKv(BUCKETS.intents, BUCKETS.runs, BUCKETS.contracts, BUCKETS.evidence, BUCKETS.keys),
      ...readsKv(BUCKETS.policies, BUCKETS.notices),
      ...readsFiles(BUCKETS.evidenceFiles),
      ...writesFiles(BUCKETS.recordings),
      ask(`$KV.${BUCKETS.intents}.*`),
      ask(`$KV.${BUCKETS.notices}.*`),
      ask("antiphon.v1.session.*.*"),
      ask("antiphon.v1.session.*.claim.*.*"),
      ask("antiphon.v1.ctl.*"),
      ...["repo.inspect", "connectors.read", "run.contract", "run.rebuild", "run.restore"].map((name) =>
        calls(name),
      ),
      calls("repo.check", "long"),
      calls("session.deed", "long"),
      calls("attempt.replay", "long"),
      calls("sandbox.images"),
      calls("egress.models"),
      calls("director.admission", "many"),
      ...places.journals.flatMap((stream) =>
        // Its metrics tell how far the services are behind.
        ["tally-intent", "tally-closed", "router", "director", "associate"].map((name) =>
          api(`CONSUMER.INFO.${stream}.${name}`),
        ),
      ),
      api(`CONSUMER.INFO.${TIMER_STREAM}.${TIMER_CONSUMER}`),
      api("STREAM.MSG.DELETE.ANT_DLQ"),
      ...pings,
      durability,
    ],
    hears: ["antiphon.v1.run.>", "antiphon.v1.log.>", "antiphon.v1.session.>"],
    serves: [],
    replies: "any",
  };
}

export function router(places: Places): Rights {
  return {
    asks: [
      ...records("routed"),
      ask("antiphon.v1.dlq.router.>"),
      ...places.journal,
      ...places.consumes("router"),
      durability,
    ],
    hears: [],
    serves: [],
    replies: "any",
  };
}

export function director(places: Places): Rights {
  return {
    asks: [
      ask("antiphon.v1.run.>"), // It also puts archived and lost records back.
      ask("antiphon.v1.dlq.>"),
      ask("antiphon.v1.timer.set.>"),
      ask("antiphon.v1.ctl.*"),
      ask("antiphon.v1.log.*.*.progress"),
      ...[BUCKETS.runs, BUCKETS.contracts, BUCKETS.evidence, BUCKETS.keys].map((name) =>
        ask(`$KV.${name}.>`),
      ),
      ...writesFiles(BUCKETS.evidenceFiles, BUCKETS.repos, BUCKETS.archive),
      calls("sandbox.run", "long"),
      calls("sandbox.job.*"),
      ...places.streams.flatMap((stream) => [
        ...reads(stream),
        api(`STREAM.CREATE.${stream}`),
        api(`STREAM.UPDATE.${stream}`),
      ]),
      ...places.consumers.flatMap(({ stream, name }) => [
        api(`CONSUMER.CREATE.${stream}.${name}`),
        api(`CONSUMER.CREATE.${stream}.${name}.>`),
        api(`CONSUMER.DURABLE.CREATE.${stream}.${name}`),
        api(`CONSUMER.INFO.${stream}.${name}`),
      ]),
      ...places.consumes("director"),
      ...places.consumes(TIMER_CONSUMER),
      ...[...places.journals, TIMER_STREAM, "ANT_DLQ", `OBJ_${BUCKETS.archive}`].map((stream) =>
        api(`STREAM.MSG.DELETE.${stream}`),
      ),
      ...[BUCKETS.runs, BUCKETS.contracts, BUCKETS.budgets].map((name) => api(`STREAM.PURGE.KV_${name}`)),
      ...[BUCKETS.evidenceFiles, BUCKETS.repos, BUCKETS.archive].map((name) =>
        api(`STREAM.PURGE.OBJ_${name}`),
      ),
      durability,
    ],
    hears: ["antiphon.v1.ctl.*"],
    serves: [
      "repo.inspect",
      "repo.export",
      "connectors.read",
      "director.admission",
      "repo.check",
      "session.deed",
      "run.contract",
      "run.rebuild",
      "run.restore",
    ].map((name) => `antiphon.v1.rpc.${name}`),
    replies: "any",
  };
}

export function operator(places: Places): Rights {
  return {
    asks: [
      ...["INFO", "STREAM.NAMES", "STREAM.LIST"].map((request) => api(request)),
      ...places.streams.flatMap((stream) => [
        ...reads(stream),
        api(`CONSUMER.NAMES.${stream}`),
        api(`CONSUMER.LIST.${stream}`),
        api(`CONSUMER.INFO.${stream}.*`),
      ]),
      // The stock client reads objects and lists of keys through a consumer of its own; buckets have no other ones.
      ...places.buckets.flatMap((stream) => [
        api(`CONSUMER.CREATE.${stream}`),
        api(`CONSUMER.CREATE.${stream}.>`),
        api(`CONSUMER.DELETE.${stream}.*`),
        api(`CONSUMER.MSG.NEXT.${stream}.*`, "many"),
      ]),
      ...micro,
      durability,
    ],
    hears: ["antiphon.v1.>"],
    serves: [],
    replies: "any",
  };
}
